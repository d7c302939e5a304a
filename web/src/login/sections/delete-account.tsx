import { useState } from 'react'
import { api } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Section } from '../../ui/layout.tsx'
import { noteSignOut } from '../signed-out.ts'

export function DeleteAccountSection() {
  const { user } = useMe()
  const [deleting, setDeleting] = useState(false)
  const remove = async () => {
    await api.deleteAccount()
    noteSignOut()
    location.assign('/sign-in')
  }
  return (
    <Section title="Delete account">
      <div className="space-y-3">
        <p className="text-ink-2">
          Deletes your personal data in all workspaces: name, e-mail address, sign-in methods, private items, personal
          agents and inbox. Shared work stays, shown as by “Deleted person”.
        </p>
        <Button look="danger" onClick={() => setDeleting(true)}>
          Delete account
        </Button>
      </div>
      {deleting && (
        <Confirm
          open
          onClose={() => setDeleting(false)}
          title="Delete your account?"
          action="Delete account"
          typed={user.email}
          onConfirm={remove}
        >
          <p>You are signed out everywhere, and your programs and tokens stop working. This cannot be undone.</p>
          <p>A workspace that only you own needs another owner first.</p>
        </Confirm>
      )}
    </Section>
  )
}
