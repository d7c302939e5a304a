export const maxHosts = 5

const example = 'postgres://user:password@one:5432,two:5432/baton'

/** The text after the name of the variable in a message; never contains the URL, which has a password. */
export class DatabaseUrlProblem extends Error {}

/**
 * One URL for each host of a URL like `postgres://user:password@one:5432,two:5432/baton`. The driver accepts only one
 * host, and so does `new URL`.
 */
export function urlsOfHosts(text: string): string[] {
  // Greedy: a password may contain an @ or a comma.
  const [, scheme, login = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/i.exec(text) ?? []
  if (!scheme) throw new DatabaseUrlProblem('must be a postgres:// URL')
  const names = hosts.split(',')
  const urls = names.map((host) => `${scheme}${login}${host}${rest}`)
  if (!urls.every((url) => URL.canParse(url))) throw new DatabaseUrlProblem('must be a postgres:// URL')
  checkParameters(new URL(urls[0] as string).searchParams, names.length > 1)
  if (names.length === 1) return [text]
  if (names.length > maxHosts) throw new DatabaseUrlProblem(`must have at most ${maxHosts} hosts, not ${names.length}`)
  if (names.some((host) => host === '')) {
    throw new DatabaseUrlProblem(`must have a host before and after each comma, like ${example}`)
  }
  return urls
}

function checkParameters(parameters: URLSearchParams, hasSeveralHosts: boolean) {
  if ((parameters.get('target_session_attrs') ?? 'read-write') !== 'read-write') {
    throw new DatabaseUrlProblem('must have no target_session_attrs other than read-write: Baton writes')
  }
  // The driver would take them for each of the hosts.
  if (hasSeveralHosts && (parameters.has('host') || parameters.has('port'))) {
    throw new DatabaseUrlProblem(`must have its hosts and ports before the name of the database, like ${example}`)
  }
}
