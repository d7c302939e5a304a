/** A strict parser for the subset of XML that Baton writes. A `prompt_context` is a list of elements without a root. */
export interface Tag {
  name: string
  attributes: Record<string, string>
  /** Without the text of nested tags and without line breaks between tags. */
  text: string
  tags: Tag[]
}

const token =
  /<\/(?<closes>[a-z-]+)>|<(?<opens>[a-z-]+)(?<attributes>(?: [a-z-]+='[^<']*')*)(?<empty>\/?)>|(?<text>[^<]+)/y
const allowed = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u
const references: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&apos;': "'", '&quot;': '"' }

export function parseXml(xml: string): Tag[] {
  const root: Tag = { name: '', attributes: {}, text: '', tags: [] }
  const open = [root]
  token.lastIndex = 0
  for (let at = 0; at < xml.length; at = token.lastIndex) {
    const { closes, opens, attributes = '', empty, text } = token.exec(xml)?.groups ?? {}
    const current = open.at(-1) ?? root
    if (text !== undefined) current.text += unescaped(text)
    else if (opens !== undefined) {
      const tag = { name: opens, attributes: attributesOf(attributes), text: '', tags: [] }
      current.tags.push(tag)
      if (!empty) open.push(tag)
    } else if (closes === undefined || closes !== open.pop()?.name) throw new Error(`not well-formed at ${at}`)
    else if (current.tags.length > 0) current.text = betweenTags(current.text)
  }
  if (open.length !== 1) throw new Error('a tag is not closed')
  betweenTags(root.text)
  return root.tags
}

function betweenTags(text: string) {
  if (text.trim() !== '') throw new Error('text beside tags')
  return ''
}

function attributesOf(text: string) {
  const pairs = [...text.matchAll(/ ([a-z-]+)='([^']*)'/g)].map(
    // XML reads a tab or line break here as a space, unless it is written as a reference; other white space stays.
    ([, name = '', value = '']) => [name, unescaped(value.replace(/[\t\n\r]/g, ' '))] as const,
  )
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) throw new Error('an attribute is given twice')
  return Object.fromEntries(pairs)
}

function unescaped(text: string) {
  if (!allowed.test(text) || text.includes(']]>')) throw new Error('characters that XML does not allow')
  return text.replace(/\r\n?/g, '\n').replace(/&(?:#(\d+);|\w+;)?/g, (reference, code?: string) => {
    const character = code ? String.fromCodePoint(Number(code)) : references[reference]
    if (character === undefined || !allowed.test(character)) throw new Error(`${reference} is no reference`)
    return character
  })
}
