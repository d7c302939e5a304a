/** Blocks that keep their content as it is, and those that are quoted. */
const blockStart = /\{(code|noformat|quote)(?::([^}\n]{0,200}))?\}/
/** Texts of hostile exports can have any length; the rest of such a text stays as it is. */
const maxLength = 1024 * 1024

/** What a text refers to: addresses of attachments by name, and names of people by account id. */
export interface Known {
  files?: ReadonlyMap<string, string>
  names?: ReadonlyMap<string, string>
}

/** Jira's wiki markup as Markdown: headings, lists, code, quotes, links, images, tables, emphasis and line breaks. */
export function jiraToMarkdown(text: string, known: Known = {}): string {
  const source = text.replace(/\r\n?/g, '\n')
  const out: string[] = []
  let rest = source.slice(0, maxLength)
  for (;;) {
    const start = blockStart.exec(rest)
    if (!start) break
    const [mark, kind = '', option = ''] = start
    const from = start.index + mark.length
    const end = rest.indexOf(`{${kind}}`, from)
    if (end < 0) break
    out.push(linesToMarkdown(rest.slice(0, start.index), known))
    const content = rest.slice(from, end).replace(/^\n|\n$/g, '')
    if (kind === 'quote') out.push(surrounded(quoted(linesToMarkdown(content, known).trim())))
    else out.push(surrounded(fenced(content, kind === 'code' ? languageOf(option) : '')))
    rest = rest.slice(end + kind.length + 2)
  }
  out.push(linesToMarkdown(rest, known), source.slice(maxLength))
  return out
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

const surrounded = (block: string) => `\n\n${block}\n\n`
const quoted = (text: string) =>
  text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')

/** The fence is longer than any in the content. */
function fenced(content: string, language: string) {
  const longest = Math.max(2, ...(content.match(/`{3,}/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${content}\n${fence}`
}

/** {code:java} or {code:title=Main.java|language=java}. */
function languageOf(options: string) {
  const parts = options.split('|')
  const named = parts.find((part) => part.startsWith('language='))?.slice('language='.length)
  const language = named ?? parts.find((part) => !part.includes('=')) ?? ''
  return /^[\w#+-]{1,30}$/.test(language) ? language : ''
}

type Block = 'empty' | 'text' | 'list' | 'quote' | 'other'

function linesToMarkdown(text: string, known: Known): string {
  const lines = text.split('\n')
  let before: Block = 'empty'
  return lines
    .map((line, index) => {
      const [block, markdown] = lineToMarkdown(line.trimEnd(), lines[index - 1], known)
      const joint = index === 0 ? '' : jointOf(before, block)
      before = block
      return joint + markdown
    })
    .join('')
}

/** In Markdown a line break is a space, and text after a list or a quote is a part of it. */
function jointOf(before: Block, block: Block): string {
  if (block !== 'text') return '\n'
  return before === 'text' ? '  \n' : before === 'list' || before === 'quote' ? '\n\n' : '\n'
}

function lineToMarkdown(line: string, previous: string | undefined, known: Known): [Block, string] {
  const inline = (part: string) => inlineToMarkdown(part, known)
  if (line.trim() === '') return ['empty', '']
  const [, level, heading] = /^\s*h([1-6])\.\s+(.*)$/.exec(line) ?? []
  if (level) return ['other', `${'#'.repeat(Number(level))} ${inline(heading ?? '')}`]
  const [, quote] = /^\s*bq\.\s+(.*)$/.exec(line) ?? []
  if (quote !== undefined) return ['quote', `> ${inline(quote)}`]
  const [, marks, item] = /^\s*([*#-]{1,10})\s+(.*)$/.exec(line) ?? []
  if (marks && (marks === '-' || !marks.includes('-'))) {
    const indent = ' '.repeat(4 * (marks.length - 1))
    return ['list', `${indent}${marks.endsWith('#') ? '1.' : '-'} ${inline(item ?? '')}`]
  }
  if (/^\s*-{4,}\s*$/.test(line)) return ['other', '\n---\n']
  if (/^\s*\|/.test(line)) return ['other', tableRow(line.trim(), previous, inline)]
  // A forced line break at the end is one already.
  return ['text', inline(line).replace(/ {2}\n$/, '')]
}

/** ||heading||heading|| and |cell|cell|. Markdown needs a heading: without one it is empty. */
function tableRow(line: string, previous: string | undefined, inline: (text: string) => string): string {
  const isHeading = line.startsWith('||')
  const cells = line
    .replace(/^\|+|\|+$/g, '')
    .split(isHeading ? '||' : /(?<!\[[^\]\n]{0,200})\|/)
    .map((cell) => inline(cell.trim()).replaceAll('|', '\\|'))
  const row = `| ${cells.join(' | ')} |`
  const rule = `|${' --- |'.repeat(cells.length)}`
  if (isHeading) return `${row}\n${rule}`
  return previous?.trim().startsWith('|') ? row : `|${'  |'.repeat(cells.length)}\n${rule}\n${row}`
}

/** Code first, so that its content stays as it is. */
function inlineToMarkdown(line: string, known: Known): string {
  return line
    .split(/(\{\{[^{}\n]{1,1000}\}\})/)
    .map((part, index) => (index % 2 === 1 ? `\`${part.slice(2, -2)}\`` : proseToMarkdown(part, known)))
    .join('')
}

function proseToMarkdown(text: string, known: Known): string {
  return text
    .replace(/\{color(?::[^}\n]{0,50})?\}|\{(?:panel|anchor|info|note|tip|warning)(?::[^}\n]{0,300})?\}/g, '')
    .split(/(\[[^[\]\n]{1,2000}\]|![^!\s|][^!\n|]{0,300}(?:\|[^!\n]{0,300})?!|https?:\/\/[^\s|\]]+)/)
    .map((part, index) => (index % 2 === 1 ? linkOf(part, known) : emphasis(part)))
    .join('')
}

function linkOf(part: string, { files = new Map(), names }: Known): string {
  if (part.startsWith('!')) {
    const name = part.slice(1, -1).split('|', 1)[0] as string
    const url = files.get(name) ?? (isUrl(name) ? name : null)
    return url ? `![${label(name)}](${target(url)})` : part
  }
  if (!part.startsWith('[')) return part
  const [first = '', second] = part.slice(1, -1).split('|')
  if (first.startsWith('~')) {
    const account = first.slice(1).replace(/^accountid:/, '')
    return `@${names?.get(account) ?? account}`
  }
  if (first.startsWith('^')) return fileLink(first.slice(1), files)
  if (second === undefined) return isUrl(first) ? `<${first}>` : part
  if (isUrl(second.trim())) return `[${label(emphasis(first))}](${target(second.trim())})`
  return second.startsWith('#') || second.startsWith('^') ? fileLink(second.slice(1), files, first) : part
}

const fileLink = (name: string, files: ReadonlyMap<string, string>, text = name) => {
  const url = files.get(name)
  return url ? `[${label(text)}](${target(url)})` : text
}

const isUrl = (text: string) => /^(?:https?:\/\/|mailto:)[^\s<>]+$/i.test(text)
/** A parenthesis would end the link. */
const target = (url: string) => url.replace(/[()]/g, (one) => (one === '(' ? '%28' : '%29'))
const label = (text: string) => text.replace(/[[\]]/g, '\\$&')

/** A mark counts only at the border of a word, as in Jira. */
const emphasis = (text: string) =>
  text
    .replace(marked('*'), '$1**$2**')
    .replace(marked('_'), '$1*$2*')
    .replace(marked('-'), '$1~~$2~~')
    .replace(marked('+'), '$1$2')
    .replace(/\\\\(?=\s|$)/g, '  \n')
    .replace(/\\([{}[\]!|])/g, '$1')

const marked = (mark: string) =>
  new RegExp(`(^|[\\s(>"'])[${mark}](?=\\S)([^${mark}\\n]{1,500})(?<=\\S)[${mark}](?=$|[\\s).,;:!?"'<])`, 'g')
