import { Check } from 'lucide-react'
import {
  createContext,
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import { cx } from './class-names.ts'
import { dayOf, momentOf } from './day.ts'
import { fold } from './fold.ts'
import { Layer } from './layer.tsx'
import { messageOf } from './problem.ts'

const Calendar = lazy(() => import('./calendar.tsx'))

export interface Option {
  value: string
  label: string
  /** Other words by which the search finds it. */
  keywords?: string | undefined
  icon?: ReactNode
  /** Shown on the right in a muted color. */
  hint?: ReactNode
  /** Why the option cannot be picked. */
  unavailable?: ReactNode
  /** Heading above the first option of the group. */
  group?: string
}

export interface Question {
  /** Name of the menu and placeholder of its search field. */
  title: string
  options: Option[] | ((query: string) => Promise<Option[]>)
  selected?: string[]
  /** Several can be chosen; `onPick` is called for each. */
  multiple?: boolean
  onPick: (value: string, option: Option) => void
  /** Shown when no option matches. */
  empty?: ReactNode
  /** Adds a calendar: the values are moments. */
  calendar?: boolean
  /** Shown below the options. A link in it must close the menu first. */
  footer?: ReactNode | ((close: () => void) => ReactNode)
}

/** The value of an empty field in menus, filters and groups. */
export const none = 'none'
export const orNull = (value: string) => (value === none ? null : value)

type Ask = (anchor: Element | null, question: Question) => void
const PickerContext = createContext<Ask>(() => {})

/** Opens the page's single menu next to an element. Rows share it, so that thousands of them stay cheap. */
export const usePicker = () => useContext(PickerContext)

export function PickerHost({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<{ anchor: Element | null; question: Question } | null>(null)
  const ask = useMemo<Ask>(() => (anchor, question) => setAsked({ anchor, question }), [])
  return (
    <PickerContext value={ask}>
      {children}
      <Layer
        open={asked !== null}
        onClose={() => setAsked(null)}
        anchor={asked?.anchor ?? null}
        label={asked?.question.title ?? ''}
        className={cx(
          'flex w-72 max-w-[calc(100vw-16px)] flex-col animate-[pop-in_90ms_ease-out]',
          asked?.question.calendar ? 'max-h-[min(34rem,calc(100dvh-16px))]' : 'max-h-88',
        )}
      >
        {asked && <OptionList key={asked.question.title} question={asked.question} close={() => setAsked(null)} />}
      </Layer>
    </PickerContext>
  )
}

type Answer = { query: string; options: Option[]; problem?: string }

/** The matching options. Those of the previous query stay until a search has its results. */
function useOptions({ options }: Question, query: string) {
  const [answer, setAnswer] = useState<Answer | null>(null)
  useEffect(() => {
    if (typeof options !== 'function') return
    let current = true
    const show = (answer: Answer) => current && setAnswer(answer)
    const timer = setTimeout(
      () =>
        options(query).then(
          (options) => show({ query, options }),
          (error) => show({ query, options: [], problem: messageOf(error) }),
        ),
      query ? 120 : 0,
    )
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [options, query])
  if (typeof options === 'function') {
    const pending = answer?.query !== query
    return { options: answer?.options ?? null, pending, problem: pending ? undefined : answer?.problem }
  }
  const wanted = fold(query.trim())
  const found = wanted ? options.filter(({ label, keywords = '' }) => fold(label + keywords).includes(wanted)) : options
  return { options: found, pending: false, problem: undefined }
}

function OptionList({ question, close }: { question: Question; close: () => void }) {
  const { title, multiple, onPick, empty = 'No matches.', calendar, footer } = question
  const [query, setQuery] = useState('')
  const [selected, setSelected] = useState(question.selected ?? [])
  const { options, pending, problem } = useOptions(question, query)
  /** Enter was pressed before the results of the query had arrived. */
  const [entered, setEntered] = useState(false)
  const [at, setAt] = useState(() =>
    Array.isArray(question.options)
      ? Math.max(
          0,
          question.options.findIndex(({ value }) => question.selected?.includes(value)),
        )
      : 0,
  )
  const listId = useId()
  const listRef = useRef<HTMLDivElement>(null)
  const inputRef = useRef<HTMLInputElement>(null)
  useEffect(() => inputRef.current?.focus(), [])
  const active = pending ? undefined : options?.[Math.min(at, options.length - 1)]

  useEffect(() => {
    if (active) listRef.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' })
  }, [active])

  const pick = (option: Option | undefined) => {
    if (!option || option.unavailable) return
    // Close first, since `onPick` may open this menu again with other options.
    if (!multiple) close()
    onPick(option.value, option)
    if (!multiple) return
    setSelected((now) =>
      now.includes(option.value) ? now.filter((value) => value !== option.value) : [...now, option.value],
    )
  }
  useEffect(() => {
    if (!entered || pending) return
    setEntered(false)
    pick(active)
  })
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const last = (options?.length ?? 1) - 1
    const moves: Record<string, () => void> = {
      ArrowDown: () => setAt(at >= last ? 0 : at + 1),
      ArrowUp: () => setAt(at <= 0 ? last : at - 1),
      Home: () => setAt(0),
      End: () => setAt(last),
      Enter: () => (pending ? setEntered(true) : pick(active)),
    }
    const move = moves[event.key]
    if (!move) return
    event.preventDefault()
    move()
  }

  return (
    <>
      <input
        ref={inputRef}
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={active ? `${listId}-${options?.indexOf(active)}` : undefined}
        aria-label={title}
        placeholder={`${title}…`}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value)
          setAt(0)
          setEntered(false)
        }}
        onKeyDown={pressed}
        className="h-9 shrink-0 border-b bg-transparent px-3 outline-none placeholder:text-ink-3"
      />
      {problem && (
        <p role="alert" className="px-3 py-1.5 text-bad-ink">
          {problem}
        </p>
      )}
      <div
        ref={listRef}
        id={listId}
        role="listbox"
        aria-label={title}
        aria-multiselectable={multiple || undefined}
        className="min-h-0 flex-1 overflow-y-auto p-1"
      >
        {options === null && <div className="m-2 skeleton h-4 w-40" />}
        {options?.length === 0 && !problem && <p className="px-2 py-1.5 text-ink-3">{empty}</p>}
        {options?.map((option, index) => (
          <div key={option.value} role="presentation">
            {option.group && option.group !== options[index - 1]?.group && (
              <div role="presentation" className="px-2 pt-2 pb-0.5 text-2xs font-medium text-ink-3">
                {option.group}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the combobox above handles the keys */}
            {/* biome-ignore lint/a11y/useFocusableInteractive: focus stays in the combobox; aria-activedescendant marks the active option */}
            <div
              id={`${listId}-${index}`}
              role="option"
              aria-selected={selected.includes(option.value)}
              aria-disabled={option.unavailable ? true : undefined}
              data-active={option === active ? '' : undefined}
              onPointerMove={() => setAt(index)}
              onClick={() => pick(option)}
              className={cx('flex min-h-7 items-center gap-2 rounded px-2 py-1', option === active && 'bg-hover')}
            >
              {option.icon && (
                <span className={cx('flex shrink-0', option.unavailable && 'opacity-50 grayscale')}>{option.icon}</span>
              )}
              <span className="min-w-0 flex-1">
                <span className={cx('block truncate', option.unavailable && 'text-ink-3')}>{option.label}</span>
                {option.unavailable && <span className="block text-xs text-ink-2">{option.unavailable}</span>}
              </span>
              {option.hint && <span className="shrink-0 text-xs text-ink-3">{option.hint}</span>}
              {selected.includes(option.value) && <Check size={14} aria-hidden className="shrink-0" />}
            </div>
          </div>
        ))}
      </div>
      {calendar && (
        <Suspense fallback={<div className="h-58 shrink-0 border-t" />}>
          <Calendar
            selected={question.selected?.find((value) => value !== none)?.slice(0, 10) ?? null}
            onPick={(day) => pick({ value: momentOf(day), label: dayOf(momentOf(day)) })}
          />
        </Suspense>
      )}
      {footer && (
        <div className="border-t px-3 py-2 text-xs text-ink-2 empty:hidden">
          {typeof footer === 'function' ? footer(close) : footer}
        </div>
      )}
    </>
  )
}
