"""Code keeps its language, tabs and signs, and loses the numbers of its lines and the buttons."""

from collections.abc import Callable

import pytest

Write = Callable[[str], str]

BLOB = (
    '<table class="highlight tab-size js-file-line-container" data-tagsearch-lang="Go">'
    '<tr><td id="L1" class="blob-num js-line-number" data-line-number="1"></td>'
    '<td id="LC1" class="blob-code blob-code-inner js-file-line"><span class="pl-k">func</span> main() {</td></tr>'
    '<tr><td id="L2" class="blob-num js-line-number" data-line-number="2"></td>'
    '<td id="LC2" class="blob-code blob-code-inner js-file-line">\tprint(1)</td></tr>'
    '<tr><td class="blob-num js-line-number" data-line-number="3"></td>'
    '<td class="blob-code blob-code-inner js-file-line">}</td></tr></table>'
)
DIFF = (
    '<table class="diff-table js-diff-table tab-size"><tr class="js-expandable-line">'
    '<td class="blob-num blob-num-expandable"><a href="#x"><svg></svg></a></td>'
    '<td class="blob-code blob-code-inner blob-code-hunk">@@ -1,2 +1,2 @@</td></tr>'
    '<tr><td class="blob-num blob-num-context" data-line-number="1"></td>'
    '<td class="blob-code blob-code-context"><button class="add-line-comment">+</button>'
    '<span class="blob-code-inner blob-code-marker" data-code-marker=" ">def f():</span></td></tr>'
    '<tr><td class="blob-num blob-num-deletion" data-line-number="2"></td>'
    '<td class="blob-code blob-code-deletion"><span class="blob-code-inner blob-code-marker" data-code-marker="-">'
    "    return <span>1</span></span></td></tr>"
    '<tr><td class="blob-num blob-num-addition" data-line-number="2"></td>'
    '<td class="blob-code blob-code-addition"><span class="blob-code-inner blob-code-marker" data-code-marker="+">'
    "    return 2</span></td></tr></table>"
)
DOCUSAURUS = (
    '<div class="language-js codeBlockContainer_Ckt0 theme-code-block"><div class="codeBlockContent_biex">'
    '<pre tabindex="0" class="prism-code language-js codeBlock_bY9V thin-scrollbar"><code class="codeBlockLines_e6Vv">'
    '<span class="token-line" style="color:#393A34"><span class="token keyword">const</span> a = 1;<br></span>'
    '<span class="token-line"><span class="token plain">  go();</span><br></span></code></pre>'
    '<div class="buttonGroup__atx"><button type="button" aria-label="Copy code">Copy</button></div></div></div>'
)
VITEPRESS = (
    '<div class="language-sh vp-adaptive-theme line-numbers-mode"><button title="Copy Code" class="copy"></button>'
    '<span class="lang">sh</span><pre class="shiki vp-code" tabindex="0"><code><span class="line">'
    '<span>npm i</span></span>\n<span class="line"><span>npm test</span></span></code></pre>'
    '<div class="line-numbers-wrapper" aria-hidden="true"><span class="line-number">1</span><br>'
    '<span class="line-number">2</span><br></div></div>'
)
MKDOCS = (
    '<div class="language-python highlight"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv">'  # noqa: E501 - a page's own line
    '<pre><span></span><span class="normal">1</span>\n<span class="normal">2</span></pre></div></td><td class="code">'
    '<div><pre><span></span><code><a id="__codelineno-0-1" name="__codelineno-0-1"></a><span class="k">if</span> x:\n'
    '<a id="__codelineno-0-2"></a>    y()\n</code></pre></div></td></tr></table></div>'
)
SPHINX = (
    '<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>'
    '<span class="linenos">1</span><span class="gp">&gt;&gt;&gt; </span>f()\n<span class="linenos">2</span>'
    '<span class="go">3</span>\n</pre></div></div>'
)
ROUGE = (
    '<div class="language-ruby highlighter-rouge"><div class="highlight"><pre class="highlight"><code>'
    '<table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td>'
    '<td class="rouge-code"><pre>puts 1\nputs 2\n</pre></td></tr></tbody></table></code></pre></div></div>'
)
CHROMA = (
    '<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd"><pre class="chroma"><code>'
    '<span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td><td class="lntd"><pre class="chroma">'
    '<code class="language-go" data-lang="go"><span class="line">a\n</span><span class="line">b\n</span></code></pre>'
    "</td></tr></table></div></div>"
)
HEXO = (
    '<figure class="highlight js"><table><tr><td class="gutter"><pre><span class="line">1</span><br><span class="line">2'  # noqa: E501 - a page's own line
    '</span><br></pre></td><td class="code"><pre><span class="line">a</span><br><span class="line">b</span><br></pre>'
    "</td></tr></table></figure>"
)
PAGES = {
    "a file of GitHub": (BLOB, "```go\nfunc main() {\n\tprint(1)\n}\n```"),
    "a comparison of GitHub": (DIFF, "```diff\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n```"),
    "a file of GitHub's later pages": (
        '<textarea id="read-only-cursor-text-area" aria-hidden="true">a:\n\tb\n</textarea>'
        '<div class="react-code-file-contents"><div class="react-line-numbers"><div>1</div></div><div>a:</div></div>',
        "```\na:\n\tb\n```",
    ),
    "Docusaurus": (DOCUSAURUS, "```js\nconst a = 1;\n  go();\n```"),
    "VitePress": (VITEPRESS, "```sh\nnpm i\nnpm test\n```"),
    "VitePress with a copy for each theme": (
        '<div class="language-sh"><pre class="shiki github-dark"><code><span class="line">npm i</span></code></pre>'
        '<pre class="shiki github-light"><code><span class="line">npm i</span></code></pre></div>',
        "```sh\nnpm i\n```",
    ),
    "MkDocs": (MKDOCS, "```python\nif x:\n    y()\n```"),
    "Sphinx": (SPHINX, "```python3\n>>> f()\n3\n```"),
    "Rouge": (ROUGE, "```ruby\nputs 1\nputs 2\n```"),
    "Chroma": (CHROMA, "```go\na\nb\n```"),
    "Hexo": (HEXO, "```js\na\nb\n```"),
    "lines that are blocks": ("<pre><div>a</div><div>  b</div></pre>", "```\na\n  b\n```"),
    "tabs and signs": ("<pre>a\tb\n\t&lt;c&gt; *d* `e`</pre>", "```\na\tb\n\t<c> *d* `e`\n```"),
    "a copy button": ("<pre><button>Copy</button><code class=language-c>x;</code></pre>", "```c\nx;\n```"),
    "a first line that is empty": ("<pre>\n\na</pre>", "```\n\na\n```"),
}


@pytest.mark.parametrize(("html", "markdown"), PAGES.values(), ids=PAGES)
def test_code(write: Write, html: str, markdown: str) -> None:
    assert write(html) == markdown


def test_a_comparison_side_by_side(write: Write) -> None:
    row = '<td class="blob-num"></td><td class="blob-code blob-code-{0}"><span data-code-marker="{1}">{2}</span></td>'
    html = '<table class="diff-table"><tr>' + row.format("deletion", "-", "a") + row.format("addition", "+", "b")
    html += "<tr>" + row.format("context", " ", "c") * 2 + "</table>"
    assert write(html) == "```diff\n-a\n+b\n c\n```"


def test_lines_of_a_comparison_get_the_signs_that_vitepress_draws(write: Write) -> None:
    html = (
        '<div class="language-js"><button class="copy"></button><span class="lang">js</span><pre class="shiki"><code>'
        '<span class="line"><span>let a</span></span>\n<span class="line diff remove"><span>a = 1</span></span>\n'
        '<span class="line diff add"><span>a = 2</span></span></code></pre></div>'
    )
    assert write(html) == "```diff\n let a\n-a = 1\n+a = 2\n```"
