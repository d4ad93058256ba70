"""A page arranged by its article."""

from ferrule_fetch.article import find_article, split
from ferrule_fetch.tree.nodes import parse

PAGE = """
<html><head><title>Storm in Lindvik</title></head><body><div id="top">Before the article, <a href="/">home</a></div>
<div id="text"><h1>Storm in Lindvik</h1>{story}<div class="share-bar">Share it</div>{story}</div>
<div id="bottom">After the article</div></body></html>
"""


def words(node):
    return " ".join(" ".join(node.stripped_strings).split())


def test_the_article_and_the_rest_are_apart(story):
    tree = parse(PAGE.format(story=story))
    article, rest = split(tree, find_article(tree))
    assert words(article).startswith("Storm in Lindvik The harbour")
    assert "Share it" not in words(article)
    assert words(rest) == "Before the article, home Share it After the article"


def test_no_word_of_the_page_is_lost(story):
    page = PAGE.format(story=story)
    tree = parse(page)
    article, rest = split(tree, find_article(tree))
    before = words(parse(page).select_one("body")).split()
    assert sorted(words(article).split() + words(rest).split()) == sorted(before)


def test_a_cell_of_a_layout_table_is_no_cell_any_more(story):
    links = "".join(f'<a href="/{number}">Page {number}</a><br>' for number in range(3))
    tree = parse(f"<table><tr><td>{links}</td><td>{story}</td></tr></table>")
    article, _ = split(tree, find_article(tree))
    assert [element.tag for element in article.select("td,th")] == []
    assert "coffee machine" in words(article)
