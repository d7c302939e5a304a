import type { ExternalUrl } from '@baton/protocol'
import { ArrowUpRight, GitPullRequest } from 'lucide-react'

/** Links have no type; recognises pull requests by label or URL. */
const isPullRequest = ({ label, url }: ExternalUrl) =>
  /\b(pull request|merge request|PR|MR)\b/i.test(label) || /\/(pull|pulls|merge_requests|pull-requests)\/\d+/.test(url)

/** The session's external links, pull requests first, each with its host. */
export function Links({ urls }: { urls: ExternalUrl[] }) {
  const safe = urls.filter(({ url }) => URL.canParse(url) && new URL(url).protocol === 'https:')
  if (safe.length === 0) return null
  const ordered = [...safe.filter(isPullRequest), ...safe.filter((link) => !isPullRequest(link))]
  return (
    <ul aria-label="Links" className="flex flex-wrap gap-1.5">
      {ordered.map((link) => {
        const Icon = isPullRequest(link) ? GitPullRequest : ArrowUpRight
        return (
          <li key={link.url} className="min-w-0">
            <a
              href={link.url}
              target="_blank"
              rel="noreferrer noopener nofollow"
              className="flex h-7 min-w-0 items-center gap-1.5 rounded border bg-surface px-2 hover:bg-hover"
            >
              <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />
              <span className="truncate font-medium">{link.label}</span>
              <span className="truncate text-xs text-ink-3">{new URL(link.url).host}</span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}
