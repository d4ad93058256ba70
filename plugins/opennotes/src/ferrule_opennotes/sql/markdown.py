"""What the CLI's markdown extension adds to SQL, as macros: read_markdown, md_stats, md_extract_..."""

# Names of the parameters start with md_, so that no column of a statement is taken for one.
from __future__ import annotations

READ_MARKDOWN = """
CREATE MACRO read_markdown(md_pattern, include_filepath := true, filename := true) AS TABLE
SELECT file_path, content, metadata FROM memory.ferrule.notes WHERE list_contains(patterns, md_pattern)
"""

_STATS = r"""
CREATE MACRO md_stats(md_text) AS {
    'word_count': len(regexp_extract_all(md_text, '\S+')),
    'character_count': length(md_text),
    'line_count': len(string_split(rtrim(md_text, chr(10)), chr(10)))
}
"""

# Frontmatter, which is no markdown: its comments look like headers.
_BODY = r"""
CREATE MACRO ferrule.body(md_text) AS
    regexp_replace(replace(md_text, chr(13) || chr(10), chr(10)), '\A---\n(?s:.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\z)', '')
"""

_FENCED = r"""(?ms)^ {0,3}(?:```[^`\n]*\n.*?(?:^ {0,3}```+[ \t]*$|\z)|~~~[^\n]*\n.*?(?:^ {0,3}~~~+[ \t]*$|\z))"""

_CODE = rf"""
CREATE MACRO md_extract_code_blocks(md_text) AS list_transform(
    regexp_extract_all(ferrule.body(md_text), '{_FENCED}'),
    lambda md_block: {{
        'language': regexp_extract(md_block, '^ *[`~]+[ \t]*([^\s`]*)', 1),
        'code': regexp_replace(regexp_replace(md_block, '^[^\n]*\n', ''), '\n? {{0,3}}(?:```+|~~~+)[ \t]*$', '')
    }}
)
"""

_PROSE = rf"""
CREATE MACRO ferrule.prose(md_text) AS regexp_replace(ferrule.body(md_text), '{_FENCED}', '', 'g')
"""

_HEADERS = r"""
CREATE MACRO md_extract_headers(md_text) AS list_transform(
    regexp_extract_all(ferrule.prose(md_text), '(?m)^ {0,3}#{1,6}(?:[ \t][^\n]*)?$'),
    lambda md_line: {
        'level': length(regexp_extract(md_line, '#+')),
        'text': trim(regexp_replace(regexp_replace(md_line, '^ *#+', ''), '[ \t]+#+[ \t]*$', ''))
    }
)
"""

_LINK = (
    r"""\[((?:[^\[\]\n]|!?\[[^\[\]\n]*\](?:\([^()\n]*\))?)*)\]\([ \t]*<?((?:[^\s()<>]|\([^\s()<>]*\))+)>?[^()\n]*\)"""
)

_LINKS = rf"""
CREATE MACRO md_extract_links(md_text) AS list_transform(
    list_filter(
        regexp_extract_all(regexp_replace(ferrule.prose(md_text), '`[^`\n]*`', '', 'g'), '!?{_LINK}'),
        lambda md_link: NOT starts_with(md_link, '!')
    ),
    lambda md_link: {{
        'text': regexp_extract(md_link, '{_LINK}', 1),
        'url': regexp_extract(md_link, '{_LINK}', 2)
    }}
)
"""

MACROS = (READ_MARKDOWN, _STATS, _BODY, _PROSE, _CODE, _HEADERS, _LINKS)
