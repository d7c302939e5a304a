import type { Context } from '../context.ts'

export interface MailToCompose {
  id: string
  kind: string
  userId: string | null
  workspaceId: string | null
  address: string
  data: Record<string, unknown>
  secret: string | null
  createdAt: string
}

/** Plain text; message.ts makes both parts of the mail from it. All URLs are below the root URL. */
export interface Composed {
  subject: string
  paragraphs: string[]
  action?: { label: string; url: string }
  items?: { title: string; text?: string; url: string }[]
  footer?: string[]
  /** For `List-Unsubscribe`. Only notifications have one; they are not sent to an address that refuses mail. */
  unsubscribe?: string
}

/** Null: there is nothing to say any more, and the mail is canceled. Called at each attempt. */
export type Compose = (ctx: Context, mail: MailToCompose) => Promise<Composed | null>

export type Composers = Record<string, Compose>
