import { type ComponentType, createContext, type ReactNode, useContext } from 'react'

interface Props {
  /** The issue's code, or one of its previous codes. */
  code: string
  path: string
  /** The text of the link; null if it is the address itself. */
  text: ReactNode
}

const IssueLinkContext = createContext<ComponentType<Props> | null>(null)

/** Provides the component that shows links to issues in Markdown. */
export const MarkdownIssueLink = IssueLinkContext.Provider

export const useMarkdownIssueLink = () => useContext(IssueLinkContext)

export type IssueLinkProps = Props
