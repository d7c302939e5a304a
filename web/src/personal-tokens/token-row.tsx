import type { PersonalToken } from '@baton/protocol'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { dayOf } from '../ui/day.ts'
import { exactTime, Time } from '../ui/time.tsx'
import { useCoverageText } from '../workspaces/team-coverage.tsx'
import { isExpired } from './tokens.ts'

/** One token: what it may do, until when, and when it was last used. */
export function TokenRow({
  token,
  owner,
  onRevoke,
}: {
  token: PersonalToken
  owner?: ReactNode
  onRevoke: () => void
}) {
  const coverage = useCoverageText()
  const { name, scopes, team_ids, expires_at, last_used_at } = token
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">
          <bdi>{name}</bdi>
          {owner && <span className="font-normal text-ink-2"> · {owner}</span>}
        </p>
        <p className="text-xs text-ink-2">
          {scopes.join(', ')} · <bdi>{coverage({ all_teams: team_ids === null, team_ids: team_ids ?? [] })}</bdi> ·{' '}
          <time dateTime={expires_at} title={exactTime(expires_at)} className={isExpired(token) ? 'text-bad-ink' : ''}>
            {isExpired(token) ? 'expired' : 'expires'} {dayOf(expires_at)}
          </time>
          {last_used_at ? (
            <>
              , last used <Time at={last_used_at} />
            </>
          ) : (
            ', never used'
          )}
        </p>
      </div>
      <Button size="sm" onClick={onRevoke} aria-label={`Revoke ${name}`}>
        Revoke
      </Button>
    </li>
  )
}
