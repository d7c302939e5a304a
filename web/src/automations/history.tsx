import type { AutomationRun } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { runsQuery } from '../data/automations.ts'
import { Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { Time } from '../ui/time.tsx'
import { causeText, reasonOf, resultText, runWords } from './words.ts'

/** The latest runs, each with its reason in words. */
export function History({ automationId }: { automationId: string }) {
  const runs = useQuery(runsQuery(automationId))
  return (
    <Section title="History" hint="The latest 50 runs. They are kept for 30 days.">
      <Loaded query={runs}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-ink-2">It has not run yet.</p>
          ) : (
            <Rows label="Runs">
              {data.map((run) => (
                <Run key={run.id} run={run} />
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Section>
  )
}

function Run({ run }: { run: AutomationRun }) {
  const { label, tone } = runWords[run.state]
  const why = reasonOf(run)
  return (
    <li className="space-y-1 px-4 py-2.5">
      <div className="flex items-center gap-3">
        <span className="w-20 shrink-0">
          <Pill tone={tone}>{label}</Pill>
        </span>
        <span className="min-w-0 flex-1 truncate">
          {run.issue ? (
            <Link to="/issue/$code" params={{ code: run.issue.code }} className="hover:underline">
              <span className="text-ink-3">{run.issue.code}</span> <bdi>{run.issue.title}</bdi>
            </Link>
          ) : (
            <span className="text-ink-2">{causeText(run)}</span>
          )}
        </span>
        <span className="shrink-0 text-ink-3">
          <Time at={run.created_at} />
        </span>
      </div>
      {(why || run.actions.length > 0) && (
        <div className="text-xs break-words text-ink-2 sm:pl-23">
          {why && <p>{why}</p>}
          <ul>
            {run.actions.map((result, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: results do not move
              <li key={index} className={result.ok ? undefined : 'text-bad-ink'}>
                {resultText(result)}
              </li>
            ))}
          </ul>
          {run.state === 'failed' && run.actions.length === 0 && run.message && <p>{run.message}</p>}
        </div>
      )}
    </li>
  )
}
