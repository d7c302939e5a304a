import type { FoundComment, Issue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleDashed, FolderKanban, MessageSquare, Users } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { api } from '../data/api.ts'
import { useIssues } from '../data/issues.ts'
import { projectsQuery } from '../data/projects.ts'
import { peopleQuery, teamsQuery, usePeople } from '../data/workspaces.ts'
import { StatusIcon } from '../issues/fields/values.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { fold } from '../ui/fold.ts'
import { isolated } from '../ui/isolated.ts'
import { inOneLine } from '../ui/one-line.ts'

export interface Entry {
  id: string
  section: string
  title: string
  icon: ReactNode
  /** Shown on the right in a muted color. */
  hint?: string | undefined
  keys?: string | undefined
  run: () => void
}

export const matches = (wanted: string, title: string) =>
  fold(wanted)
    .split(/\s+/)
    .every((word) => fold(title).includes(word))

const mostIssues = 20
const mostOfAKind = 5
/** The server ignores shorter words. */
const shortestComment = 3

interface Found {
  issues: Issue[]
  comments: FoundComment[]
}
const nothing: Found = { issues: [], comments: [] }

/** Issues and comments that the server finds, a moment after the last key. */
function useRemote(wanted: string, complete: boolean): Found & { searching: boolean } {
  const [found, setFound] = useState<Found & { wanted: string }>({ ...nothing, wanted: '' })
  useEffect(() => {
    if (wanted.length < 2) return
    let current = true
    const timer = setTimeout(
      async () => {
        const [issues, comments] = await Promise.all([
          api.listIssues({ query: wanted, limit: mostIssues }).catch(() => ({ data: [] })),
          wanted.length < shortestComment
            ? { data: [] }
            : api.searchComments({ query: wanted, limit: mostOfAKind }).catch(() => ({ data: [] })),
        ])
        if (current) setFound({ issues: issues.data, comments: comments.data, wanted })
      },
      complete ? 250 : 100,
    )
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [wanted, complete])
  return found.wanted === wanted ? { ...found, searching: false } : { ...nothing, searching: wanted.length >= 2 }
}

/** Results before the commands, and the comments, which come after them. */
export function useFound(wanted: string): { found: Entry[]; comments: Entry[]; searching: boolean } {
  const navigate = useNavigate()
  const { issues, complete } = useIssues()
  const remote = useRemote(wanted, complete)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { data: people = [] } = useQuery(peopleQuery)
  const { data: teams = [] } = useQuery(teamsQuery)
  const byId = usePeople()
  return useMemo(() => {
    if (!wanted) return { found: [], comments: [], searching: false }
    const wantedCode = wanted.toUpperCase()
    const local = issues
      .filter(({ code, title }) => matches(wanted, `${code} ${title}`))
      .sort((a, b) => Number(b.code === wantedCode) - Number(a.code === wantedCode))
      .slice(0, 12)
    const known = new Set(local.map(({ id }) => id))
    const allIssues = [...local, ...remote.issues.filter(({ id }) => !known.has(id))].slice(0, mostIssues)
    const named = people.filter(({ display_name }) => matches(wanted, display_name))
    // A code that no issue has now may be one from before a move or an import, which its page finds.
    const isOldCode = /^[A-Z][A-Z0-9]*-\d+$/.test(wantedCode) && !allIssues.some(({ code }) => code === wantedCode)
    const found: Entry[] = [
      ...(isOldCode && !remote.searching
        ? [
            {
              id: 'code',
              section: 'Issues',
              title: `Open ${wantedCode}`,
              icon: <CircleDashed size={15} aria-hidden className="shrink-0 text-ink-3" />,
              run: () => void navigate({ to: '/issue/$code', params: { code: wantedCode } }),
            },
          ]
        : []),
      ...allIssues.map(({ id, code, title, status }) => ({
        id,
        section: 'Issues',
        title: `${code}  ${title}`,
        icon: <StatusIcon status={status} />,
        run: () => void navigate({ to: '/issue/$code', params: { code } }),
      })),
      ...projects
        .filter(({ title }) => matches(wanted, title))
        .slice(0, mostOfAKind)
        .map(({ id, title }) => ({
          id,
          section: 'Projects',
          title,
          icon: <FolderKanban size={15} aria-hidden className="shrink-0 text-ink-3" />,
          run: () => void navigate({ to: '/project/$projectId', params: { projectId: id } }),
        })),
      ...teams
        .filter(({ name, key }) => matches(wanted, `${key} ${name}`))
        .slice(0, mostOfAKind)
        .map(({ id, name, key }) => ({
          id,
          section: 'Teams',
          title: name,
          hint: `${key} issues`,
          icon: <Users size={15} aria-hidden className="shrink-0 text-ink-3" />,
          run: () => void navigate({ to: '/issues', search: { team: key } }),
        })),
      ...(['human', 'application'] as const).flatMap((kind) =>
        named
          .filter(({ user_kind }) => user_kind === kind)
          .slice(0, mostOfAKind)
          .map(({ id, display_name, avatar_url }) => ({
            id,
            section: kind === 'human' ? 'People' : 'Agents',
            title: display_name,
            hint: kind === 'human' ? 'Assigned issues' : 'Sessions',
            icon: <Avatar name={display_name} src={avatar_url} agent={kind === 'application'} size={16} />,
            run: () =>
              void navigate(
                kind === 'human'
                  ? { to: '/issues', search: { assignee: id } }
                  : { to: '/agents', search: { agent: id } },
              ),
          })),
      ),
    ]
    const comments = remote.comments.map(({ id, text, url, author_id, target }) => ({
      id,
      section: 'Comments',
      title: excerpt(inOneLine(text), wanted),
      hint: [isolated(byId.get(author_id ?? '')?.display_name), target.code ?? target.title]
        .filter(Boolean)
        .join(' · '),
      icon: <MessageSquare size={15} aria-hidden className="shrink-0 text-ink-3" />,
      run: () => {
        const { pathname, hash } = new URL(url)
        void navigate({ to: pathname, hash: hash.slice(1) })
      },
    }))
    return { found, comments, searching: remote.searching }
  }, [wanted, issues, remote.issues, remote.comments, remote.searching, projects, teams, people, byId, navigate])
}

/** The text around the first match, since the beginning of a long comment may not have it. */
function excerpt(text: string, wanted: string) {
  const [word = ''] = fold(wanted).split(/\s+/)
  const at = fold(text).indexOf(word)
  return at > 40 ? `…${text.slice(at - 20)}` : text
}
