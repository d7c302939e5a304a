import { parseXml, type Tag } from './xml.ts'

export const named = (tags: Tag[], name: string) => tags.filter((tag) => tag.name === name)
export const inside = (tags: Tag[], outer: string, name: string) =>
  named(tags, outer).flatMap((tag) => named(tag.tags, name))
export const textsOf = (tags: Tag[]) => tags.map(({ text }) => text)

/** The content of a `prompt_context`, by part. */
export function readPromptContext(xml: string) {
  const tags = parseXml(xml)
  const [subject] = tags
  const ofSubject = (name: string) => textsOf(named(subject?.tags ?? [], name))
  return {
    bytes: Buffer.byteLength(xml),
    kind: subject?.name,
    title: ofSubject('title')[0] ?? '',
    description: ofSubject('description')[0] ?? '',
    teams: ofSubject('team'),
    labels: ofSubject('label'),
    primary: textsOf(inside(tags, 'primary-directive-thread', 'comment')),
    others: named(tags, 'other-thread').map(({ attributes }) => attributes['comment-id'] ?? ''),
    otherThreads: named(tags, 'other-thread').map((thread) => textsOf(thread.tags)),
    rules: textsOf(inside(tags, 'guidance', 'guidance-rule')),
    hints: named(tags, 'repository-hint').map(({ attributes }) => attributes.repository ?? ''),
  }
}
