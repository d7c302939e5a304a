import { WorkspaceTokensSection } from '../personal-tokens/workspace-tokens-section.tsx'
import { WorkspaceScreen } from '../workspaces/workspace-screen.tsx'

export const WorkspacePage = () => (
  <WorkspaceScreen>
    <WorkspaceTokensSection />
  </WorkspaceScreen>
)
