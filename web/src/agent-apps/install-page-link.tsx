import type { AgentApp } from '@baton/protocol'
import { ExternalLink } from 'lucide-react'
import { buttonClass } from '../ui/button.tsx'

/** Opens the app's own install page, if its manifest names one. Shows the host, because it leaves this site. */
export const InstallPageLink = ({ app: { install_page_url: url } }: { app: AgentApp }) =>
  url === null ? null : (
    <a href={url} target="_blank" rel="noopener noreferrer" className={buttonClass('primary')}>
      <ExternalLink size={14} aria-hidden />
      Install at {new URL(url).host}
    </a>
  )
