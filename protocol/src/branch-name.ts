/** Longest branch name that is suggested; file systems and CI jobs cut longer ones. */
const longest = 100

/** Latin letters that do not decompose into a base letter and a mark. */
const spelled: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => spelled[letter] ?? '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')

/** A code of another issue, which a merge of the branch would close. */
const otherCode = /\b([A-Z][A-Z0-9]{0,5})-([1-9]\d{0,8})\b/g

/**
 * The name of a branch for an issue: the first name of the user, the code and the title, as in
 * `ada/eng-12-the-door-sticks`. A branch with this name is linked to the issue.
 */
export function branchName(userName: string, { code, title }: { code: string; title: string }): string {
  const user = slug(userName.trim().split(/\s+/)[0] ?? '').slice(0, 30)
  const name = [slug(code), slug(title.replace(otherCode, '$1$2'))].filter(Boolean).join('-')
  return `${user && `${user}/`}${name}`.slice(0, longest).replace(/-+$/, '')
}
