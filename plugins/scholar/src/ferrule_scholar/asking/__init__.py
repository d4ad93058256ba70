"""How services of papers are asked: what one can (`scholar`), one request (`client`), all at once (`panel`)."""
