import type { ConsentRequest } from '@baton/protocol'
import { Check } from 'lucide-react'
import { useState } from 'react'
import { programScopeTexts } from '../agent-apps/scopes.ts'
import { api, currentWorkspaceId } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Choices } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Card } from '../ui/layout.tsx'
import { Missing } from '../ui/missing.tsx'
import { Notice } from '../ui/states.tsx'
import { DenyButton } from './app-consent.tsx'
import { ConsentHeader } from './consent-header.tsx'

/** Consent page for a program that acts as the user, such as an MCP client. */
export function ProgramConsent({ request }: { request: ConsentRequest }) {
  const { client_name, scopes, workspaces, redirect_host } = request
  const { user } = useMe()
  const first = workspaces.find(({ id }) => id === currentWorkspaceId()) ?? workspaces[0]
  const [workspaceId, setWorkspaceId] = useState(first?.id ?? '')
  const form = useForm(async () => {
    const { redirect_to } = await api.approveConsent({ request_id: request.id, workspace_id: workspaceId })
    location.assign(redirect_to)
  })
  return (
    <form onSubmit={form.submit} className="space-y-5">
      <ConsentHeader request={request} title={`Connect ${isolated(client_name)}`} />
      <Notice tone="warn" title={`It acts as you, ${isolated(user.display_name)}`}>
        Its actions appear under your name. The program chose its own name: continue only if you started it yourself and
        it runs at <strong className="font-semibold">{redirect_host}</strong>.
      </Notice>
      <Card className="px-4 py-3">
        <h2 className="mb-1.5 text-xs font-semibold text-ink-2">It can</h2>
        <ul className="space-y-1.5">
          {scopes.map((scope) => (
            <li key={scope} className="flex gap-2.5">
              <Check size={15} aria-hidden className="mt-0.5 shrink-0 text-ok" />
              {programScopeTexts[scope] ?? scope}
            </li>
          ))}
        </ul>
        <p className="mt-2 text-ink-2">
          It cannot change settings, passwords, apps or webhooks. You can disconnect it in your account.
        </p>
      </Card>
      <Choices
        label="Workspace"
        name="workspace"
        value={workspaceId}
        onChange={setWorkspaceId}
        choices={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
      />
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <div className="flex flex-wrap justify-end gap-2">
        <Missing>{workspaceId ? null : 'Choose a workspace.'}</Missing>
        <DenyButton request={request}>Cancel</DenyButton>
        <Button type="submit" look="primary" busy={form.busy} disabled={!workspaceId}>
          Connect
        </Button>
      </div>
    </form>
  )
}
