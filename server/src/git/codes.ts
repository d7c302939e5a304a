import { programLimits } from '@baton/protocol'

/** The texts of a pull request or branch that can name issues. */
export interface NamingTexts {
  branch: string
  title?: string
  body?: string
}

/** A code in upper case, and whether a merge closes its issue. */
export interface NamedCode {
  code: string
  closes: boolean
}

/** Texts also contain words such as UTF-8 or SHA-256, so more codes are looked up than are linked. */
const maxLookedUp = 5 * programLimits.gitLinks

const code = String.raw`[a-z][a-z0-9]{0,5}-[1-9]\d{0,8}`
/** No letter or digit before or after. */
const wholeCode = new RegExp(String.raw`(?<![\p{L}\p{N}])${code}(?![\p{L}\p{N}])`, 'giu')

const closing =
  'fix(?:es|ed|ing)?|clos(?:e|es|ed|ing)|resolv(?:e|es|ed|ing)|implement(?:s|ed|ing)?|complet(?:e|es|ed|ing)'
const linking = 'refs?|references?|part of|relat(?:ed|es) to'
/** A word, and the codes after it: `Fixes ENG-1, ENG-2 and ENG-3`, also as links or addresses of issues. */
const named = String.raw`(?:\[|<)?(?:https?:\/\/[^\s)\]>]{1,300}\/issue\/)?${code}(?![\p{L}\p{N}])(?:\]\([^)\s]{0,500}\)|\]|>)?`
const announced = new RegExp(
  String.raw`(?<![\p{L}\p{N}_-])(?:(${closing})|(?:${linking}))[:\s]\s{0,10}(${named}(?:(?:\s{0,10},\s{0,10}(?:and\s)?|\s{1,10}(?:and|&)\s{1,10})${named}){0,50})`,
  'giu',
)

/**
 * The issues that a pull request or branch names. A code in branch or title closes; in the body only codes after a word
 * such as "fixes" (closes) or "part of" (links) count, because a body quotes others.
 */
export function codesIn({ branch, title = '', body = '' }: NamingTexts): NamedCode[] {
  const found = new Map<string, boolean>()
  const add = (text: string, closes: boolean) => {
    for (const [match] of text.matchAll(wholeCode)) {
      const one = match.toUpperCase()
      if (found.size < maxLookedUp || found.has(one)) found.set(one, closes || found.get(one) === true)
    }
  }
  add(branch, true)
  add(title, true)
  for (const [, closes, codes = ''] of withoutHidden(body).matchAll(announced)) {
    // The addresses of links may name other codes.
    add(codes.replace(/\]\([^)\s]{0,500}\)/g, ']').replace(/https?:\/\/\S{1,300}?\/issue\//g, ''), closes !== undefined)
  }
  return [...found].map(([code, closes]) => ({ code, closes }))
}

/** Comments of a template, and code, are not statements of the author. */
const withoutHidden = (body: string) =>
  body.replace(/<!--[\s\S]*?(?:-->|$)/g, ' ').replace(/(?:^|\n)(```|~~~)[\s\S]*?(?:\n\1|$)/g, '\n')

const sessionId = /\bsess_[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])/g
const maxSessions = 10

/** Ids of agent sessions in branch or body. */
export const sessionsIn = ({ branch, body = '' }: NamingTexts): string[] =>
  [...new Set([...`${branch}\n${body}`.matchAll(sessionId)].map(([id]) => id))].slice(0, maxSessions)
