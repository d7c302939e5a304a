/** Groups of readers: a canary of a group that reaches a caller outside of it is a leak. */
export const groups = [
  /** All members and apps of the attacked workspace. */
  'here',
  /** Its members, and apps that cover all teams. */
  'ops',
  /** Its members, but no app: internal comments. */
  'people',
  /** Its owners and admins: webhooks, invitations. */
  'managers',
  /** Only its owner: personal items. */
  'owner',
  /** Only one member: personal items, a personal agent with its instructions. */
  'scribe',
  /** The other workspace. */
  'there',
  /** Shown once and in no later response: passwords, tokens, client secrets. */
  'secret',
] as const
export type Group = (typeof groups)[number]

const secret = /\b(?:psn|svc_at|svc_pat|prt|svc_sk|pwhsec|whsec)_[\w+/-]{20,}/g
const id = /\b[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}\b/g

/** Strings that are planted where only a group may read them, and searched for everywhere else. */
export class Canaries {
  planted = 0
  /** Number of permitted reads by group: a canary that is never read proves nothing. */
  readonly permittedReads = new Map<Group, number>()
  readonly #secrets = new Map<string, Group>()
  readonly #ids = new Map<string, Group>()

  /** A new canary, to put into a title, a name, a URL … */
  new(group: Group): string {
    return `canary-${group}-${++this.planted}`
  }

  /** Registers an id that callers outside the group must not see. */
  id(text: string, group: Group) {
    this.#ids.set(text, group)
  }

  /** Registers the secrets in a response. */
  secretsIn(answer: unknown, group: Group) {
    for (const [found] of JSON.stringify(answer ?? null).matchAll(secret)) this.#secrets.set(found, group)
  }

  /** Canaries in a text for readers of these groups, except those they sent themselves. */
  leaks(text: string, mayRead: ReadonlySet<Group>, sent = ''): string[] {
    const ids = [...text.matchAll(id)].map(([found]): Found => [found, this.#ids.get(found)])
    return [...this.#words(text), ...ids].flatMap(([found, group]) => {
      if (group && mayRead.has(group)) this.permittedReads.set(group, (this.permittedReads.get(group) ?? 0) + 1)
      return group && !mayRead.has(group) && !sent.includes(found) ? `${found} (${group})` : []
    })
  }

  /** Canaries in a text for the operator, who may see ids. */
  leaksToOperator = (text: string): string[] => this.#words(text).flatMap(([found, group]) => (group ? found : []))

  #words(text: string): Found[] {
    return [
      ...[...text.matchAll(/canary-([a-z]+)-\d+/g)].map(([found, group]): Found => [found, group as Group]),
      ...[...text.matchAll(secret)].map(([found]): Found => [found, this.#secrets.get(found)]),
    ]
  }
}

type Found = [found: string, group: Group | undefined]
