import { PersonalAgentDialog } from '../agents/personal-agent-dialog.tsx'
import { useOverlay } from '../data/overlay.ts'
import { CreateIssue } from '../issues/create/create-issue.tsx'
import { CreateProject } from '../projects/create-project.tsx'
import { DemoTour } from '../tour/demo-tour.tsx'
import { Palette } from './palette.tsx'
import { ShortcutHelp } from './shortcut-help.tsx'

/** In this chunk, because the name of each is part of what the list of issues loads. */
export { DeletionBanner } from './deletion-banner.tsx'

/** All dialogs that can open over any screen. Loaded lazily, so that the first screen does not wait for them. */
export default function Overlays() {
  const overlay = useOverlay()
  return (
    <>
      <Palette />
      <ShortcutHelp />
      <DemoTour />
      <CreateIssue />
      {overlay?.name === 'create-project' && <CreateProject />}
      {overlay?.name === 'personal-agent' && <PersonalAgentDialog {...(overlay.agent && { agent: overlay.agent })} />}
    </>
  )
}
