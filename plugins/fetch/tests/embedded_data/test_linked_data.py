"""What JSON-LD says, for pages that have no words of their own."""

import json

import pytest

from ferrule_fetch.embedded_data import find_text

SENTENCE = "Four oak gates were lifted out of the river on Monday, a century after they were hung."


def read(*blocks: object) -> str:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(block)}</script>' for block in blocks)
    source, text = find_text(f"<div id=app></div>{scripts}", "https://shop.example/", "")
    assert source == "json-ld"
    return text.partition("]\n\n")[2]


def test_an_article_is_its_headline_its_facts_and_its_paragraphs() -> None:
    body = "\n\n".join(f"{number}. {SENTENCE}" for number in range(20))
    article = {
        "@type": "NewsArticle",
        "headline": "The lock gates",
        "author": [{"name": "Mira Oakes"}, {"name": "Jo Reed"}],
        "datePublished": "2025-03-04",
        "articleBody": body,
    }
    text = read({"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "Courier"}, article]})
    assert text.startswith("# The lock gates\n\nBy: Mira Oakes, Jo Reed\n\nPublished: 2025-03-04\n\n0\\. Four oak")
    assert text.count(SENTENCE) == 20
    assert "Courier" not in text


def test_an_article_that_is_whole_is_all_that_is_read() -> None:
    block = json.dumps({"@type": "Article", "headline": "Gates", "articleBody": f"{SENTENCE} " * 20})
    state = json.dumps({"related": ["Another story that has nothing to do with it."]})
    html = f'<script type="application/ld+json">{block}</script><script>window.__DATA__ = {state};</script>'
    _, text = find_text(html, "https://shop.example/", "")
    assert "(JSON-LD); it seems to be the main text.]" in text
    assert "Another story" not in text


def test_a_product_has_its_offers_its_rating_and_its_reviews() -> None:
    product = {
        "@type": "Product",
        "name": "Oak plank",
        "brand": {"@type": "Brand", "name": "Weir & Sons"},
        "description": "Green oak, sawn on four sides &amp; dried for a year.",
        "offers": [
            {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"},
            {"@type": "Offer", "name": "Long", "price": 45, "priceCurrency": "EUR", "availability": "OutOfStock"},
        ],
        "aggregateRating": {"ratingValue": 4.5, "bestRating": 5, "reviewCount": 120},
        "review": {"@type": "Review", "author": "Jo", "reviewBody": "It holds.", "reviewRating": {"ratingValue": 5}},
    }
    text = read(product)
    assert "# Oak plank" in text
    assert "Brand: Weir & Sons" in text
    assert "Price: 19.90 EUR, InStock; Long, 45 EUR" in text
    assert "Rating: 4.5 of 5 (120 ratings)" in text
    assert "sawn on four sides & dried for a year." in text
    assert "By: Jo\n\nRating: 5\n\nIt holds." in text


def test_a_recipe_has_its_ingredients_and_steps_in_order() -> None:
    steps = [
        {
            "@type": "HowToSection",
            "name": "Dough",
            "itemListElement": [{"@type": "HowToStep", "text": "Mix the flour."}],
        },
        {"@type": "HowToStep", "text": "Bake it for an hour."},
    ]
    recipe = {"@type": ["Recipe"], "name": "Bread", "recipeYield": "4", "recipeIngredient": ["500 g flour", "water"]}
    text = read({**recipe, "recipeInstructions": steps})
    assert "Yield: 4" in text
    assert "## Ingredients\n\n- 500 g flour\n- water" in text
    assert "## Steps\n\n1. Mix the flour.\n2. Bake it for an hour." in text


def test_questions_stand_above_their_answers_with_votes() -> None:
    answer = {"@type": "Answer", "text": "<p>Only in <b>March</b>.</p>", "upvoteCount": 12, "author": {"name": "Jo"}}
    question = {"@type": "Question", "name": "When do the gates open?", "acceptedAnswer": answer}
    text = read({"@type": "FAQPage", "mainEntity": [question, {**question, "name": "Where is the lower basin?"}]})
    assert "# When do the gates open?\n\nBy: Jo\n\nVotes: 12\n\nOnly in **March**." in text
    assert "# Where is the lower basin?" in text


def test_a_post_has_its_votes_and_comments() -> None:
    counted = [{"interactionType": "https://schema.org/LikeAction", "userInteractionCount": 120}]
    comment = {"@type": "Comment", "text": "I saw it from the bridge.", "author": {"name": "Kim"}, "upvoteCount": 3}
    post = {"@type": "DiscussionForumPosting", "headline": "Gates", "text": SENTENCE, "interactionStatistic": counted}
    text = read({**post, "comment": [comment, {**comment, "text": "And I from the ferry."}]})
    assert "Counted: 120 like" in text
    assert "By: Kim\n\nVotes: 3\n\nI saw it from the bridge." in text
    assert "And I from the ferry." in text


def test_an_event_and_a_job_have_their_place() -> None:
    place = {"@type": "Place", "name": "Town hall", "address": {"streetAddress": "1 Quay", "addressLocality": "Harrow"}}
    event = {"@type": "Event", "name": "Opening", "startDate": "2025-04-01", "location": place, "description": SENTENCE}
    assert "Place: Town hall, 1 Quay, Harrow" in read(event)
    job = {
        "@type": "JobPosting",
        "title": "Lock keeper",
        "hiringOrganization": {"name": "Weir"},
        "description": SENTENCE,
    }
    assert "# Lock keeper\n\nEmployer: Weir" in read(job)


@pytest.mark.parametrize(
    "block",
    [
        {"@type": "WebSite", "name": "A site with a long name", "description": f"{SENTENCE} {SENTENCE}"},
        {"@type": "BreadcrumbList", "itemListElement": [{"name": "One two three four five six seven eight nine"}]},
        "no object",
        [[[]]],
    ],
)
def test_what_is_about_the_site_is_no_text(block: object) -> None:
    html = f'<script type="application/ld+json">{json.dumps(block)}</script>'
    assert find_text(html, "https://shop.example/", "") == ("", "")
