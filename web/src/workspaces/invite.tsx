import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'

/** Creates an invitation link. The user must send it, because the service sends no e-mail. */
export function Invite({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { role: mine } = useMe()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<'owner' | 'admin' | 'member'>('member')
  const [link, setLink] = useState<string | null>(null)
  const form = useForm(async () => {
    const { token } = await api.createInvitation({ email, role })
    setLink(`${location.origin}/invitations/accept?${new URLSearchParams({ token, email })}`)
    await queries.invalidateQueries({ queryKey: ['workspace', 'invitations'] })
  }, ['email', 'role'])
  const close = () => {
    setLink(null)
    setEmail('')
    onClose()
  }
  if (link) {
    return (
      <Dialog
        open={open}
        onClose={close}
        title={`Send this link to ${email}`}
        description="Works once and expires in 7 days. Shown only now."
        size="sm"
        footer={
          <Button look="primary" onClick={close}>
            Done
          </Button>
        }
      >
        <Copyable text={link} label="link" autoFocus />
      </Dialog>
    )
  }
  return (
    <Dialog open={open} onClose={close} title="Invite people" size="sm">
      <form onSubmit={form.submit} className="space-y-4 pb-3">
        <Field label="E-mail" error={form.errors.email}>
          <Input type="email" required autoFocus value={email} onChange={(event) => setEmail(event.target.value)} />
        </Field>
        <Field
          label="Role"
          hint="Admins install agents and manage webhooks, teams and members."
          error={form.errors.role}
        >
          <Select value={role} onChange={(event) => setRole(event.target.value as typeof role)}>
            <option value="member">Member</option>
            <option value="admin">Admin</option>
            {mine === 'owner' && <option value="owner">Owner</option>}
          </Select>
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            Create invitation
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
