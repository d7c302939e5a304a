import { expect, test } from 'vitest'
import { processorMs } from '../../../../conformance/times.ts'
import { jiraToMarkdown } from './jira-markup.ts'

test.each([
  ['headings', 'h1. Title\nh3. Part *bold*', '# Title\n### Part **bold**'],
  [
    'lists',
    '* a\n** b\n*** c\n# one\n## two\n#* mixed\n- dash',
    '- a\n    - b\n        - c\n1. one\n    1. two\n    - mixed\n- dash',
  ],
  ['code with a language', 'x\n{code:java}\nint *a* = 1;\n{code}\ny', 'x\n\n```java\nint *a* = 1;\n```\n\ny'],
  ['code with options', '{code:title=Main.java|language=ts|borderStyle=solid}\nlet a\n{code}', '```ts\nlet a\n```'],
  ['code that contains a fence', '{noformat}\n```\nx\n```\n{noformat}', '````\n```\nx\n```\n````'],
  ['code that is never closed', 'a {code} b', 'a {code} b'],
  ['quotes', '{quote}\nfirst *line*\n\nsecond\n{quote}\nbq. short', '> first **line**\n>\n> second\n\n> short'],
  [
    'links',
    '[Docs|https://e.com/a_b_c] [https://e.com/x] [~accountid:5b10] [~ada] [see|https://e.com|smart-link] [plain]',
    '[Docs](https://e.com/a_b_c) <https://e.com/x> @5b10 @ada [see](https://e.com) [plain]',
  ],
  ['parentheses in an address', '[x|https://e.com/a_(b)]', '[x](https://e.com/a_%28b%29)'],
  ['bare addresses', 'see https://e.com/a_b_c-d-e now', 'see https://e.com/a_b_c-d-e now'],
  [
    'emphasis',
    '*bold* _italic_ -gone- +new+ {{a*b*c}} 2*3*4 a_b_c',
    '**bold** *italic* ~~gone~~ new `a*b*c` 2*3*4 a_b_c',
  ],
  ['colors and panels', '{color:red}hot{color} {panel:title=x}in{panel}', 'hot in'],
  ['tables', '||A||B||\n|1|[x|https://e.com]|', '| A | B |\n| --- | --- |\n| 1 | [x](https://e.com) |'],
  ['images without a file', '!missing.png|thumbnail!', '!missing.png|thumbnail!'],
  ['line breaks of Windows', 'a\r\n\r\nb', 'a\n\nb'],
  ['line breaks in a paragraph', 'a\nb \nc\n\nd', 'a  \nb  \nc\n\nd'],
  ['line breaks in a quote', '{quote}\na\nb\n{quote}', '> a  \n> b'],
  ['a paragraph before and after a list', 'See:\n* a\n* b\nThen c\n# d', 'See:\n- a\n- b\n\nThen c\n1. d'],
  ['a paragraph after a quoted line', 'bq. said\nanswer', '> said\n\nanswer'],
  [
    'a paragraph before and after a heading or table',
    'a\nh2. B\nc\n|1|2|',
    'a\n## B\nc\n|  |  |\n| --- | --- |\n| 1 | 2 |',
  ],
  ['scripts', '[x|javascript:alert(1)]', '[x|javascript:alert(1)]'],
])('%s', (_, jira, markdown) => {
  expect(jiraToMarkdown(jira)).toBe(markdown)
})

test('mentions have the name of the account, if it is known', () => {
  const names = new Map([['5b10', 'Dana Ortiz']])
  expect(jiraToMarkdown('[~accountid:5b10] and [~accountid:77]', { names })).toBe('@Dana Ortiz and @77')
})

test('images and links of attachments get their addresses', () => {
  const files = new Map([['a b.png', 'https://e.com/1']])
  expect(jiraToMarkdown('!a b.png|width=20! [^a b.png]', { files })).toBe(
    '![a b.png](https://e.com/1) [a b.png](https://e.com/1)',
  )
})

test.each(['{{', '[', '!', '*a ', '{code}', '|', 'https://'])(
  'a megabyte of %j takes less than 10 seconds',
  async (part) => {
    const text = part.repeat(Math.floor(1_000_000 / part.length))
    expect(await processorMs(() => jiraToMarkdown(text))).toBeLessThan(10_000)
  },
)
