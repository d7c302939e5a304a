import { fileIdPattern } from '@baton/protocol/files-in-text'
import { useNavigate } from '@tanstack/react-router'
import { ImageOff, Paperclip, Square, SquareCheck } from 'lucide-react'
import { type ComponentProps, memo, type ReactNode, Suspense, useState } from 'react'
import ReactMarkdown from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { useFileAccess } from './file-access.ts'
import { useMarkdownIssueLink } from './markdown-issue-link.ts'
import { mentions } from './markdown-mentions.ts'
import { useMarkdownPeople } from './markdown-people.ts'

const schema = {
  ...defaultSchema,
  // Images of other hosts are shown as links: loading one would reveal the reader to its host.
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['picture', 'source'].includes(name)),
  attributes: { ...defaultSchema.attributes, span: ['dataMention'] },
  protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'] },
}

/** Pages of the app that open without a page load. */
const appPages = /^\/(issue|project|agent-session)\/[^/]+$/

/** Accepts absolute URLs and paths that start with a slash; null for everything else. */
const parseUrl = (href: string) => {
  if (!/^(https?:|mailto:|\/)/i.test(href) || !URL.canParse(href, location.origin)) return null
  const url = new URL(href, location.origin)
  return /^(https?|mailto):$/.test(url.protocol) ? url : null
}

/** Links to other sites open in a new tab and show their host. */
function Link({ href = '', children }: ComponentProps<'a'>) {
  const navigate = useNavigate()
  const IssueLink = useMarkdownIssueLink()
  if (href.startsWith('#')) return <a href={href}>{children}</a>
  if (fileIdPattern.test(href)) return <FileLink id={href}>{children}</FileLink>
  const url = parseUrl(href)
  if (!url) return <span>{children}</span>
  if (url.origin === location.origin) {
    const path = url.pathname + url.search + url.hash
    const [, code] = /^\/issue\/([^/]+)$/.exec(url.pathname) ?? []
    if (code && IssueLink) {
      // The rest of the text does not wait for the component.
      return (
        <Suspense fallback={<a href={path}>{children}</a>}>
          <IssueLink code={code} path={path} text={children === href ? null : children} />
        </Suspense>
      )
    }
    return (
      <a
        href={path}
        onClick={(event) => {
          if (!appPages.test(url.pathname) || event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          void navigate({ href: path })
        }}
      >
        {children}
      </a>
    )
  }
  const host = url.protocol === 'mailto:' ? url.pathname : url.host
  // The host is omitted if the link text is the URL itself.
  const showsHost = children === href || children === host || `mailto:${children}` === href
  return (
    <a href={url.href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
      {!showsHost && <span className="ml-1 inline-block text-xs text-ink-3">({host})</span>}
    </a>
  )
}

/** Files open in a new tab: a download, or a picture without the app's rights. */
function FileLink({ id, children }: { id: string; children: ReactNode }) {
  const access = useFileAccess()
  if (!access) return <span>{children}</span>
  return (
    <a href={access.url(id)} target="_blank" rel="noreferrer">
      <Paperclip size={12} aria-hidden className="mr-1 inline-block align-[-1px]" />
      {children}
    </a>
  )
}

/** A picture that is stored here. What cannot be shown, such as a deleted file, stays a link. */
function FileImage({ id, alt }: { id: string; alt: string }) {
  const access = useFileAccess()
  const [failed, setFailed] = useState(false)
  if (!access || failed) return <FileLink id={id}>{alt}</FileLink>
  return (
    <a href={access.url(id)} target="_blank" rel="noreferrer" className="inline-block max-w-full">
      <img
        src={access.url(id)}
        alt={alt}
        loading="lazy"
        onError={() => setFailed(true)}
        className="max-h-112 max-w-full rounded border"
      />
    </a>
  )
}

const Image = ({ src = '', alt }: ComponentProps<'img'>) =>
  typeof src === 'string' && fileIdPattern.test(src) ? (
    <FileImage id={src} alt={alt || 'picture'} />
  ) : (
    <RemoteImage src={src} alt={alt} />
  )

const RemoteImage = ({ src = '', alt }: ComponentProps<'img'>) => (
  <span className="inline-flex max-w-full items-center gap-1 rounded border bg-sunken px-1.5 text-xs">
    <ImageOff size={12} aria-hidden className="shrink-0" />
    <Link href={typeof src === 'string' ? src : ''}>{alt || 'image'}</Link>
  </span>
)

/** The checkbox of a task list item. */
const TaskCheckbox = ({ checked }: ComponentProps<'input'>) => (
  <span className="mr-1.5 inline-block align-[-2px]">
    {checked ? <SquareCheck size={15} aria-hidden className="text-ok" /> : <Square size={15} aria-hidden />}
    <span className="sr-only">{checked ? 'Done: ' : 'To do: '}</span>
  </span>
)

/** Shows the directory's name, not the text's: names in text can be forged. */
function Mention({ id, children }: { id: string; children: ComponentProps<'span'>['children'] }) {
  const person = useMarkdownPeople().get(id)
  if (!person) return <span>{children}</span>
  const look = person.user_kind === 'human' ? 'bg-accent-wash text-accent-ink' : 'bg-agent-wash text-agent-ink'
  return (
    <span className={`rounded-sm px-1 font-medium ${look}`}>
      @<bdi>{person.display_name}</bdi>
    </span>
  )
}

const Span = ({ children, ...rest }: ComponentProps<'span'> & { 'data-mention'?: string }) =>
  rest['data-mention'] ? <Mention id={rest['data-mention']}>{children}</Mention> : <span>{children}</span>

function Rendered({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        remarkPlugins={[remarkGfm, mentions]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        urlTransform={(url) => url}
        components={{ a: Link, img: Image, input: TaskCheckbox, span: Span }}
      >
        {text}
      </ReactMarkdown>
    </div>
  )
}

export default memo(Rendered)
