"""Files whose rows are asked, for `ferrule ask --rows`: what is read, asked in batches or one by one, and written."""
