import type { NewPersonalAgent, PersonalAgent } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { type KeyboardEvent, useState } from 'react'
import { api, rereadKey } from '../data/api.ts'
import { showOverlay } from '../data/overlay.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input, Textarea } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Kbd } from '../ui/kbd.tsx'
import { Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { NoModel } from './no-model.tsx'

const close = () => showOverlay(null)
const empty: NewPersonalAgent = { name: '', instructions: '' }

/** The draft of a new agent, kept when the dialog is closed. */
let keptDraft = empty

const example = `Write the release note for the issue.

- One sentence that a customer understands.
- Describe what they can do now, not what we changed.
- Ask me if you do not know who it is for.`

/** Creates or edits a personal agent. */
export function PersonalAgentDialog({ agent }: { agent?: PersonalAgent }) {
  const [draft, setDraft] = useState<NewPersonalAgent>(
    agent ? { name: agent.name, instructions: agent.instructions } : keptDraft,
  )
  const change = (fields: Partial<NewPersonalAgent>) => {
    const next = { ...draft, ...fields }
    if (!agent) keptDraft = next
    setDraft(next)
  }
  const form = useForm(async () => {
    const fields = { ...draft, name: draft.name.trim() }
    const { name } = await (agent
      ? api.updatePersonalAgent({ agent_id: agent.id, ...fields })
      : api.createPersonalAgent(fields))
    if (!agent) keptDraft = empty
    await rereadKey('agents')
    close()
    showToast(
      agent
        ? `Saved ${isolated(name)}. Open sessions use the new instructions.`
        : `Created ${isolated(name)}. You can now delegate issues to it.`,
    )
  }, ['name', 'instructions'])
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    void form.submit()
  }
  const { errors } = form
  return (
    <Dialog open onClose={close} title={agent ? `Edit ${isolated(agent.name)}` : 'New personal agent'}>
      <form onSubmit={form.submit} onKeyDown={pressed} className="space-y-4 pb-3">
        <ul className="list-disc space-y-0.5 pl-4 text-ink-2">
          <li>Only you can delegate to it, mention it or message it. Everyone can read its work on shared issues.</li>
          <li>It has your access, under its own name. It reads private items only in sessions about them.</li>
          <li>It cannot close or delegate issues, or manage the workspace.</li>
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
          hint="Sent to the language model with every task. Do not include secrets."
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
