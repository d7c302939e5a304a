import type { NewPersonalAgent, PersonalAgent } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { type KeyboardEvent, useState } from 'react'
import { api, lookAgain } from '../data/api.ts'
import { showOverlay } from '../data/overlay.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input, Textarea } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Kbd } from '../ui/kbd.tsx'
import { Notice } from '../ui/states.tsx'
import { say } from '../ui/toast.tsx'
import { NoModel } from './no-model.tsx'

const close = () => showOverlay(null)
const nothing: NewPersonalAgent = { name: '', instructions: '' }

/** What was begun and closed is there again. */
let left = nothing

const example = `Write the release note for the issue.

- One sentence that a customer understands.
- Say what they can do now, not what we changed.
- Ask me if you cannot tell whom it is for.`

/** Makes an agent of one's own, or changes one. */
export function PersonalAgentDialog({ agent }: { agent?: PersonalAgent }) {
  const [draft, setDraft] = useState<NewPersonalAgent>(
    agent ? { name: agent.name, instructions: agent.instructions } : left,
  )
  const change = (fields: Partial<NewPersonalAgent>) => {
    const next = { ...draft, ...fields }
    if (!agent) left = next
    setDraft(next)
  }
  const form = useForm(async () => {
    const fields = { ...draft, name: draft.name.trim() }
    const { name } = await (agent
      ? api.updatePersonalAgent({ agent_id: agent.id, ...fields })
      : api.createPersonalAgent(fields))
    if (!agent) left = nothing
    await lookAgain('agents')
    close()
    say(
      agent ? `${name} is changed. Sessions that go on hear of it, too.` : `${name} is yours. Delegate an issue to it.`,
    )
  }, ['name', 'instructions'])
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    void form.submit()
  }
  const { errors } = form
  return (
    <Dialog open onClose={close} title={agent ? `Edit ${agent.name}` : 'New personal agent'}>
      <form onSubmit={form.submit} onKeyDown={pressed} className="space-y-4 pb-3">
        <ul className="list-disc space-y-0.5 pl-4 text-ink-2">
          <li>
            Only you can delegate to it, mention it or write to it. Everybody reads what it does on shared issues.
          </li>
          <li>It reads and changes what you can, in its own name; what is personal only while it works on that.</li>
          <li>It never closes an issue, hands one on, or manages anything.</li>
        </ul>
        <NoModel />
        <Field label="Name" error={errors.name && `The name ${errors.name}.`}>
          <Input
            required
            autoFocus
            maxLength={limits.name}
            autoComplete="off"
            placeholder="Release scribe"
            value={draft.name}
            onChange={(event) => change({ name: event.target.value })}
          />
        </Field>
        <Field
          label="Instructions"
          optional
          hint="It is given these with every piece of work. Do not write secrets here: a language model reads them."
          error={errors.instructions && `The instructions ${errors.instructions}.`}
        >
          <Textarea
            className="max-h-72 min-h-36"
            placeholder={example}
            value={draft.instructions}
            onChange={(event) => change({ instructions: event.target.value })}
          />
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            {agent ? 'Save' : 'Create agent'}
            <Kbd keys="mod+enter" inverted className="ml-1 max-md:hidden" />
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
