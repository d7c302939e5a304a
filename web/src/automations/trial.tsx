import type { ActionResult, NewAutomation } from '@baton/protocol'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Card } from '../ui/layout.tsx'
import { fieldErrors } from '../ui/problem.ts'
import { sentence } from '../ui/sentence.ts'
import { resultText, withoutConditions } from './words.ts'

interface Tried {
  looked_at: number
  matched: number
  would: ActionResult[]
}

interface Props {
  draft: NewAutomation
  /** Shows at the fields of the draft what the server said of them. */
  onFieldErrors: (errors: Record<string, string>) => void
}

/** Says what the draft would do. Nothing is stored or sent. */
export function Trial({ draft, onFieldErrors }: Props) {
  const [issue, setIssue] = useState('')
  const [tried, setTried] = useState<Tried | null>(null)
  const isScheduled = draft.trigger.type === 'schedule'
  const showAtFields = (error: unknown) => {
    const { issue_id: _, ...errors } = fieldErrors(error)
    onFieldErrors(errors)
  }
  const { run, busy, error, problem } = useAction(async () => {
    setTried(null)
    onFieldErrors({})
    setTried(
      await api.tryAutomation({
        ...draft,
        name: draft.name || 'Draft',
        ...(issue && !isScheduled && { issue_id: issue }),
      }),
    )
  }, showAtFields)
  const lack = withoutConditions(draft.trigger, draft.filter)
  const { issue_id: issueError, ...others } = fieldErrors(error)
  return (
    <Card className="space-y-3 p-4">
      <h2 className="font-semibold">Try</h2>
      <p className="text-xs text-ink-2">Shows what it would do now. Nothing is changed, sent or stored.</p>
      {!isScheduled && (
        <Field
          label="Issue"
          optional
          hint="An ID such as ENG-4; without one, the latest that matches."
          error={sentence(issueError)}
        >
          <Input value={issue} autoComplete="off" onChange={({ target }) => setIssue(target.value.trim())} />
        </Field>
      )}
      <Button icon={Play} busy={busy} onClick={() => void run()}>
        Try
      </Button>
      <div role="status" className="space-y-1 text-sm">
        {problem && !issueError && (
          <p className="text-bad-ink">
            {Object.keys(others).length > 0 ? 'Not tried. Correct the marked fields first.' : problem}
          </p>
        )}
        {tried && (
          <>
            {tried.looked_at > 0 && (
              <p>
                {tried.matched} of the latest {tried.looked_at} changes would have run it.
                {tried.matched === 0 && lack && ` ${lack}`}
              </p>
            )}
            <ul aria-label="It would" className="list-disc pl-5 break-words">
              {tried.would.map((result, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: results do not move
                <li key={index} className={result.ok ? undefined : 'text-bad-ink'}>
                  {result.ok ? '' : 'Refused: '}
                  {resultText(result)}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Card>
  )
}
