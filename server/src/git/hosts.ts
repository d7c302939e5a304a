import type { GitKind } from '@baton/protocol'

/** The root of a host's API. */
export function apiUrl(kind: GitKind, host: string): string {
  const origin = host.startsWith('http://') ? host : `https://${host}`
  switch (kind) {
    case 'github':
      return host === 'github.com' ? 'https://api.github.com' : `${origin}/api/v3`
    case 'gitlab':
      return `${origin}/api/v4`
    case 'gitea':
    case 'forgejo':
      return `${origin}/api/v1`
  }
}

/** Where the comments of a pull request are listed and posted. */
export function commentsUrl(kind: GitKind, host: string, repository: string, number: number): string {
  const api = apiUrl(kind, host)
  if (kind === 'gitlab') return `${api}/projects/${encodeURIComponent(repository)}/merge_requests/${number}/notes`
  const path = repository.split('/').map(encodeURIComponent).join('/')
  return `${api}/repos/${path}/issues/${number}/comments`
}

export function authorization(kind: GitKind, token: string): Record<string, string> {
  if (kind === 'gitlab') return { 'private-token': token }
  return { authorization: kind === 'github' ? `Bearer ${token}` : `token ${token}` }
}
