import type { AutomationAction, NewAutomation } from '@baton/protocol'
import { automationLimits } from '@baton/protocol/limits'
import { Plus, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTeams } from '../data/workspaces.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Card } from '../ui/layout.tsx'
import { fieldErrors } from '../ui/problem.ts'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { ActionFields } from './action-fields.tsx'
import { Conditions } from './conditions.tsx'
import { actionsFor, hasIssue, offeredTypes } from './places.ts'
import { Trial } from './trial.tsx'
import { TriggerFields } from './trigger-fields.tsx'
import { actionWords } from './words.ts'

const emptyAction: { [Type in AutomationAction['type']]: Extract<AutomationAction, { type: Type }> } = {
  create_issue: { type: 'create_issue' },
  set_fields: { type: 'set_fields' },
  delegate: { type: 'delegate', agent_id: '' },
  ask_agent: { type: 'ask_agent', agent_id: '', text: '' },
  comment: { type: 'comment', text: '' },
  notify: { type: 'notify', who: 'team' },
}

interface Props {
  initial: NewAutomation
  isNew?: boolean
  /** Others read the automation; only its owner changes it. */
  readOnly?: boolean
  onSave: (draft: NewAutomation) => Promise<void>
  children?: ReactNode
}

/** An automation as one sentence: "When … and … then …", with Try beside it. */
export function Editor({ initial, isNew = false, readOnly = false, onSave, children }: Props) {
  const teams = useTeams()
  const [draft, setDraft] = useState(initial)
  // What the server said of fields when the draft was saved or tried last.
  const [errors, setErrors] = useState<Record<string, string>>({})
  const form = useForm(async () => {
    setErrors({})
    try {
      await onSave(draft)
    } catch (error) {
      setErrors(fieldErrors(error))
      throw error
    }
  })
  const change = (next: Partial<NewAutomation>) => {
    setDraft({ ...draft, ...next })
    // An error disappears when its part is edited.
    setErrors(Object.fromEntries(Object.entries(errors).filter(([field]) => !((field.split('.')[0] ?? '') in next))))
  }
  const setAction = (index: number, action: AutomationAction | null) =>
    change({ actions: draft.actions.flatMap((one, at) => (at === index ? (action ?? []) : one)) })
  return (
    <div className="grid gap-6 min-[1280px]:grid-cols-[minmax(0,1fr)_18rem]">
      <form className="min-w-0" noValidate onSubmit={form.submit}>
        <fieldset disabled={readOnly} className="space-y-5">
          <legend className="sr-only">Automation</legend>
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label="Name" error={sentence(errors.name)}>
              <Input
                value={draft.name}
                autoComplete="off"
                maxLength={80}
                onChange={({ target }) => change({ name: target.value })}
              />
            </Field>
            <Field label="Team" error={sentence(errors.team_id)}>
              <Select
                value={draft.team_id}
                disabled={!isNew}
                onChange={({ target }) => change({ team_id: target.value })}
              >
                {teams.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </Select>
            </Field>
          </div>
          <Clause word="When">
            <TriggerFields
              value={draft.trigger}
              errors={errors}
              onChange={(trigger) =>
                change(
                  trigger.type === 'schedule'
                    ? { trigger, filter: {}, actions: actionsFor({ trigger, actions: draft.actions }) }
                    : { trigger },
                )
              }
            />
          </Clause>
          {draft.trigger.type !== 'schedule' && (
            <Clause word="and">
              <Conditions
                trigger={draft.trigger}
                value={draft.filter ?? {}}
                errors={errors}
                onChange={(filter) => change({ filter })}
              />
            </Clause>
          )}
          <Clause word="then">
            <ol className="space-y-3">
              {draft.actions.map((action, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an action has no other identity
                <li key={index}>
                  <Card className="space-y-3 p-4">
                    <div className="flex items-center gap-2">
                      <Select
                        aria-label={`Action ${index + 1}`}
                        className="w-56"
                        value={action.type}
                        onChange={({ target }) =>
                          setAction(index, emptyAction[target.value as AutomationAction['type']])
                        }
                      >
                        {offeredTypes(draft, index).map((type) => (
                          <option key={type} value={type}>
                            {actionWords[type]}
                          </option>
                        ))}
                      </Select>
                      <span className="flex-1" />
                      {draft.actions.length > 1 && !readOnly && (
                        <IconButton
                          label={`Remove action ${index + 1}`}
                          icon={X}
                          onClick={() => setAction(index, null)}
                        />
                      )}
                    </div>
                    <ActionFields
                      action={action}
                      teamId={draft.team_id}
                      withIssue={hasIssue(draft, index)}
                      onChange={(next) => setAction(index, next)}
                      errorOf={(field) => errors[`actions.${index}.${field}`]}
                    />
                    {errors[`actions.${index}.type`] && action.type !== 'set_fields' && (
                      <p role="alert" className="text-xs text-bad-ink">
                        {sentence(errors[`actions.${index}.type`])}
                      </p>
                    )}
                  </Card>
                </li>
              ))}
            </ol>
            {draft.actions.length < automationLimits.actions && !readOnly && (
              <Button
                size="sm"
                look="quiet"
                icon={Plus}
                className="mt-2"
                onClick={() => {
                  const { actions } = draft
                  const next = hasIssue(draft, actions.length) ? emptyAction.comment : emptyAction.create_issue
                  change({ actions: [...actions, next] })
                }}
              >
                Add action
              </Button>
            )}
          </Clause>
          {form.problem && Object.keys(form.errors).length === 0 && (
            <Notice tone="bad" title="Not saved">
              {form.problem}
            </Notice>
          )}
          {!readOnly && (
            <div className="flex flex-wrap gap-2">
              <Button type="submit" look="primary" busy={form.busy}>
                {isNew ? 'Create automation' : 'Save'}
              </Button>
              {children}
            </div>
          )}
        </fieldset>
      </form>
      {!readOnly && (
        <aside aria-label="Try" className="min-w-0">
          <Trial draft={draft} onFieldErrors={setErrors} />
        </aside>
      )}
    </div>
  )
}

const Clause = ({ word, children }: { word: string; children: ReactNode }) => (
  <div className="flex gap-3 max-sm:flex-col max-sm:gap-1">
    <p className="w-12 shrink-0 pt-1.5 font-semibold">{word}</p>
    <div className="min-w-0 flex-1">{children}</div>
  </div>
)
