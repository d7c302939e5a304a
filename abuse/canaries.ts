/** Who may read what: a canary of a group in the hands of somebody outside of it is a leak. */
export const groups = [
  /** Everybody in the workspace under attack, apps of one team included. */
  'here',
  /** Its people, and apps that cover all teams. */
  'ops',
  /** Its people, but no app: internal comments. */
  'people',
  /** Its owners and admins: webhooks, invitations. */
  'managers',
  /** Its owner alone: what is personal. */
  'owner',
  /** One member alone: what is personal, a personal agent with its instructions. */
  'scribe',
  /** The other workspace. */
  'there',
  /** Whoever got it once, and no answer again: passwords, tokens, client secrets. */
  'nobody',
] as const
export type Group = (typeof groups)[number]

const secret = /\b(?:psn|svc_at|prt|svc_sk|pwhsec)_[\w-]{20,}/g
const id = /\b[a-z]{3,4}_[0-9a-hjkmnp-tv-z]{26}\b/g

/** Strings that are planted where only a group may read them, and looked for everywhere else. */
export class Canaries {
  planted = 0
  readonly #secrets = new Map<string, Group>()
  readonly #ids = new Map<string, Group>()

  /** A new one, to be made part of a title, a name, an address … */
  new(group: Group): string {
    return `canary-${group}-${++this.planted}`
  }

  /** The id of something that nobody outside the group has a reason to meet with. */
  id(text: string, group: Group) {
    this.#ids.set(text, group)
  }

  /** The secrets in an answer to those who may have them. */
  secretsIn(answer: unknown, group: Group) {
    for (const [found] of JSON.stringify(answer ?? null).matchAll(secret)) this.#secrets.set(found, group)
  }

  /** What is found in a text that is for the members of these groups; what they sent themselves tells nothing. */
  leaks(text: string, mayRead: ReadonlySet<Group>, sent = ''): string[] {
    const ids = [...text.matchAll(id)].map(([found]): Found => [found, this.#ids.get(found)])
    return [...this.#words(text), ...ids].flatMap(([found, group]) =>
      group && !mayRead.has(group) && !sent.includes(found) ? `${found} (${group})` : [],
    )
  }

  /** What is found in a text that is for nobody who is a member of anything; there ids may be. */
  leaksToOperator = (text: string): string[] => this.#words(text).flatMap(([found, group]) => (group ? found : []))

  #words(text: string): Found[] {
    return [
      ...[...text.matchAll(/canary-([a-z]+)-\d+/g)].map(([found, group]): Found => [found, group as Group]),
      ...[...text.matchAll(secret)].map(([found]): Found => [found, this.#secrets.get(found)]),
    ]
  }
}

type Found = [found: string, group: Group | undefined]
