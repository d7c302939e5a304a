import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { InstallDialog } from '../agent-apps/install-dialog.tsx'
import { appQuery, useInstallation } from '../data/agent-apps.ts'
import { buttonClass } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Failed, Skeletons } from '../ui/states.tsx'

/** A request to install an app, opened in the inbox: a manager installs it here. */
export function InstallRequest({ appId, onClose }: { appId: string; onClose: () => void }) {
  const { data: app, error } = useQuery(appQuery(appId))
  const installation = useInstallation(appId)
  // Once the form is open, it stays open until it is closed: it shows the tokens after the installation.
  const [form, setForm] = useState(false)
  if (!form && app && installation === null) setForm(true)
  if (app && form) return <InstallDialog app={app} onClose={onClose} />
  return (
    <Dialog
      open
      onClose={onClose}
      title={app ? `Install ${isolated(app.name)}` : 'Install request'}
      size="sm"
      footer={
        installation && (
          <Link to="/settings/agent-apps/$appId" params={{ appId }} className={buttonClass('primary')}>
            Open app
          </Link>
        )
      }
    >
      {error ? <Failed error={error} /> : installation ? <p>It is already installed.</p> : <Skeletons rows={3} />}
    </Dialog>
  )
}
