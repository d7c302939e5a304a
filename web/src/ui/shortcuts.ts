import { createContext, useContext, useEffect, useRef } from 'react'
import { createStore, useStore } from './store.ts'

/** An action of the current screen, run by its keys, from the palette, or by a button with its id. */
export interface Command {
  id: string
  title: string
  section:
    | 'Go to'
    | 'Issue'
    | 'Project'
    | 'Selection'
    | 'Agent session'
    | 'Create'
    | 'View'
    | 'Views'
    | 'Help'
    | 'Settings'
  /** `c`, `g i` (a sequence), `mod+k`, `shift+enter`, `escape`, `space`. */
  keys?: string
  run: () => void
  /** Also while typing, such as mod+enter. */
  evenWhileTyping?: boolean
  /** Of several commands with the same keys, the one with focus runs. */
  hasFocus?: () => boolean
  /** Has keys, but is not listed in the palette. */
  hidden?: boolean
}

const commands = createStore<Command[]>([])

/** True inside a secondary panel, such as an issue next to its list: for keys that both use, the main part wins. */
export const SecondaryPanel = createContext(false)

/** Registers commands while the component is mounted. For the same keys, the last registered command wins. */
export function useCommands(own: Command[]) {
  const isSecondary = useContext(SecondaryPanel)
  const latest = useRef(own)
  latest.current = own
  const shape = own.map(({ id, title, keys, hidden }) => `${id}|${title}|${keys}|${hidden}`).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: `run` is looked up when it is called; only what is listed matters
  useEffect(() => {
    const mine = latest.current.map((command) => ({
      ...command,
      run: () => latest.current.find(({ id }) => id === command.id)?.run(),
    }))
    const others = commands.get()
    commands.set(isSecondary ? [...others, ...mine] : [...mine, ...others])
    return () => commands.set(commands.get().filter((command) => !mine.includes(command)))
  }, [shape, isSecondary])
}

/** All commands, without duplicate ids. */
export const useCommandList = () => {
  const list = useStore(commands)
  return list.filter((command, index) => list.findIndex(({ id }) => id === command.id) === index)
}

export const useKeysOf = (id: string | undefined) =>
  useStore(commands, (list) => list.find((command) => command.id === id)?.keys)

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
const symbols: Record<string, string> = {
  mod: isMac ? '⌘' : 'Ctrl',
  shift: '⇧',
  enter: '↵',
  escape: 'Esc',
  space: 'Space',
  arrowup: '↑',
  arrowdown: '↓',
  arrowleft: '←',
  arrowright: '→',
  backspace: '⌫',
  pageup: 'Page ↑',
  pagedown: 'Page ↓',
  home: 'Home',
  end: 'End',
}
/** The text of each key cap: two for `g i`, and two for `mod+k`. */
export const keyCaps = (keys: string): string[] =>
  keys.split(' ').flatMap((chord) => chord.split('+').map((key) => symbols[key] ?? key.toUpperCase()))

function chordOf(event: KeyboardEvent): string {
  const key = event.key === ' ' ? 'space' : event.key.toLowerCase()
  const mod = event.metaKey || event.ctrlKey ? 'mod+' : ''
  // A character that needs shift on this keyboard, such as ?, is named without it.
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key)) ? 'shift+' : ''
  return mod + shift + key
}

/** Text fields handle keys themselves. */
export const isTyping = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type))

/** Focused controls handle Space and Enter themselves. */
const isHandledByControl = (target: EventTarget | null, chord: string) =>
  /^(space|enter)$/.test(chord) &&
  target instanceof HTMLElement &&
  target.closest('button, a, summary, input, [role="checkbox"], [role="radio"], [role="switch"], [role="tab"]') !== null

/** An open menu or dialog disables the shortcuts of the screen. */
const isInPopup = (target: EventTarget | null) => target instanceof HTMLElement && target.closest('dialog') !== null

const findCommand = (commands: Command[], pressed: string) => {
  const matching = commands.filter(({ keys }) => keys === pressed)
  return matching.find(({ hasFocus }) => hasFocus?.()) ?? matching[0]
}

/** Starts the single keydown listener of the app. Returns a function that removes it. */
export function listenForKeys(): () => void {
  let prefix = ''
  let forget: ReturnType<typeof setTimeout> | undefined
  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    const chord = chordOf(event)
    const typing = isTyping(event.target)
    if (isInPopup(event.target) || isHandledByControl(event.target, chord)) return
    const available = commands.get().filter(({ keys, evenWhileTyping }) => keys && (!typing || evenWhileTyping))
    const sequence = prefix ? `${prefix} ${chord}` : chord
    clearTimeout(forget)
    prefix = ''
    const command = findCommand(available, sequence) ?? findCommand(available, chord)
    if (command) {
      event.preventDefault()
      command.run()
    } else if (available.some(({ keys }) => keys?.startsWith(`${chord} `))) {
      prefix = chord
      forget = setTimeout(() => {
        prefix = ''
      }, 1200)
    }
  }
  document.addEventListener('keydown', pressed)
  return () => document.removeEventListener('keydown', pressed)
}
