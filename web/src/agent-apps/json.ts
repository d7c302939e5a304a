import { limits } from '@baton/protocol/limits'
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Position {
  /** Starts at 1. */
  line: number
  column: number
}
interface Problem {
  message: string
  offset: number
}
export type ParsedJson =
  | { ok: true; value: Json /** Offset of the value at each dotted path. */; offsets: Map<string, number> }
  | ({ ok: false } & Problem)

const notEscaped = 'This string contains a character that must be escaped'
const messages: Record<string, string> = {
  ValueExpected: 'A value is expected here',
  PropertyNameExpected: 'A name in double quotes is expected here',
  ColonExpected: 'A colon is missing here',
  CommaExpected: 'A comma is missing here',
  CloseBraceExpected: 'A closing brace is missing here',
  CloseBracketExpected: 'A closing bracket is missing here',
  EndOfFileExpected: 'Unexpected text after the end',
  UnexpectedEndOfString: 'This string has no closing quote',
  InvalidEscapeCharacter: notEscaped,
  InvalidUnicode: notEscaped,
  InvalidCharacter: notEscaped,
  InvalidCommentToken: 'JSON has no comments',
}

/** Parses JSON and keeps the position of each field, so that errors can be shown at their lines. */
export function parseJson(text: string): ParsedJson {
  const errors: ParseError[] = []
  const tree = parse(text, errors)
  if (tree === 'too deep') return { ok: false, ...tooDeep(0) }
  const [first] = errors
  if (first || !tree) {
    const code = first ? printParseErrorCode(first.error) : 'ValueExpected'
    return { ok: false, message: messages[code] ?? 'This is not valid JSON', offset: first?.offset ?? 0 }
  }
  const offsets = new Map<string, number>()
  const problem = locate(tree, '', 0, offsets)
  // JSON.parse, unlike jsonc-parser's getNodeValue, keeps a field called __proto__.
  return problem ? { ok: false, ...problem } : { ok: true, value: JSON.parse(text), offsets }
}

/** The parser is recursive: thousands of brackets exceed its stack. */
function parse(text: string, errors: ParseError[]): Node | undefined | 'too deep' {
  try {
    return parseTree(text, errors, { disallowComments: true })
  } catch (error) {
    if (error instanceof RangeError) return 'too deep'
    throw error
  }
}

const tooDeep = (offset: number): Problem => ({ message: 'This is nested too deeply', offset })

/** Fills `offsets`. Returns an error for valid JSON that the API rejects: a duplicate field, or too many levels. */
function locate(node: Node, path: string, depth: number, offsets: Map<string, number>): Problem | null {
  if (!offsets.has(path)) offsets.set(path, node.offset)
  if (depth > limits.bodyDepth) return tooDeep(node.offset)
  for (const [index, child] of (node.children ?? []).entries()) {
    const [name, value] = child.type === 'property' ? (child.children ?? []) : []
    const inner = [...(path ? [path] : []), name ? name.value : index].join('.')
    if (name && offsets.has(inner)) return { message: `${name.value} appears twice`, offset: child.offset }
    offsets.set(inner, child.offset)
    const problem = locate(value ?? child, inner, depth + 1, offsets)
    if (problem) return problem
  }
  return null
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
