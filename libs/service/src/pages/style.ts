/** A card in the middle of the page, in the colours that the reader's system prefers. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--back:#f4f5f7;--card:#fff;--text:#1c1e21;--faint:#555b63;--line:#d9dce1;--main:#0b57d0;--on:#fff}
@media(prefers-color-scheme:dark){:root{--back:#121417;--card:#1d2024;--text:#eceef1;--faint:#aab0b8;--line:#363b42;--main:#a8c7fa;--on:#062e6f}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:28rem;padding:2rem 1.5rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}
h1{margin:0 0 .75rem;font-size:1.5rem;line-height:1.25}
p{margin:0 0 1rem;overflow-wrap:anywhere}
p:last-child{margin:0}
.faint{color:var(--faint);font-size:.9rem}
@media(forced-colors:active){main{border:1px solid}}
`
