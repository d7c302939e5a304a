import { createContext, useContext, useEffect, useRef } from 'react'
import { createStore, useStore } from './store.ts'

/** Something the person can do now: by its keys, from the palette, from a button that names it. */
export interface Command {
  id: string
  title: string
  section: 'Go to' | 'Issue' | 'Project' | 'Selection' | 'Agent session' | 'Create' | 'View' | 'Help' | 'Settings'
  /** `c`, `g i` (one after the other), `mod+k`, `shift+enter`, `escape`, `space`. */
  keys?: string
  run: () => void
  /** Also while typing, such as mod+enter. */
  evenWhileTyping?: boolean
  /** Where several have its key, the one that has the focus is meant. */
  hasFocus?: () => boolean
  /** Has a key, but would be odd in the palette. */
  hidden?: boolean
}

const commands = createStore<Command[]>([])

/** What stands beside something else, such as an issue beside its list, leaves it the keys that both have. */
export const SecondClaim = createContext(false)

/** What can be done while this component is on the screen. What came last has the first claim to a key. */
export function useCommands(own: Command[]) {
  const second = useContext(SecondClaim)
  const latest = useRef(own)
  latest.current = own
  const shape = own.map(({ id, title, keys }) => `${id}|${title}|${keys}`).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: what runs is looked up when it runs; only names and keys matter
  useEffect(() => {
    const mine = latest.current.map((command) => ({
      ...command,
      run: () => latest.current.find(({ id }) => id === command.id)?.run(),
    }))
    const others = commands.get()
    commands.set(second ? [...others, ...mine] : [...mine, ...others])
    return () => commands.set(commands.get().filter((command) => !mine.includes(command)))
  }, [shape, second])
}

/** Each once, by its id. */
export const useCommandList = () => {
  const list = useStore(commands)
  return list.filter((command, index) => list.findIndex(({ id }) => id === command.id) === index)
}

export const useKeysOf = (id: string | undefined) =>
  useStore(commands, (list) => list.find((command) => command.id === id)?.keys)

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
const words: Record<string, string> = {
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
}
/** How keys are written on a key cap: `g i` is two, `mod+k` is two pressed together. */
export const keyCaps = (keys: string): string[] =>
  keys.split(' ').flatMap((chord) => chord.split('+').map((key) => words[key] ?? key.toUpperCase()))

function chordOf(event: KeyboardEvent): string {
  const key = event.key === ' ' ? 'space' : event.key.toLowerCase()
  const mod = event.metaKey || event.ctrlKey ? 'mod+' : ''
  // A sign that needs shift on this keyboard is named by itself.
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key)) ? 'shift+' : ''
  return mod + shift + key
}

/** Keys belong to what is typed into. */
export const isTyping = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type))

/** Space and Enter belong to what has the focus, if it can be pressed. */
const isPressed = (target: EventTarget | null, chord: string) =>
  /^(space|enter)$/.test(chord) &&
  target instanceof HTMLElement &&
  target.closest('button, a, summary, input, [role="checkbox"], [role="radio"], [role="switch"], [role="tab"]') !== null

/** A menu or dialog has the keyboard to itself. */
const isInPopup = (target: EventTarget | null) => target instanceof HTMLElement && target.closest('dialog') !== null

const meant = (commands: Command[], pressed: string) => {
  const claims = commands.filter(({ keys }) => keys === pressed)
  return claims.find(({ hasFocus }) => hasFocus?.()) ?? claims[0]
}

/** The one listener for keys. Returns how to end it. */
export function listenForKeys(): () => void {
  let begun = ''
  let forget: ReturnType<typeof setTimeout> | undefined
  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    const chord = chordOf(event)
    const typing = isTyping(event.target)
    if (isInPopup(event.target) || isPressed(event.target, chord)) return
    const open = commands.get().filter(({ keys, evenWhileTyping }) => keys && (!typing || evenWhileTyping))
    const sequence = begun ? `${begun} ${chord}` : chord
    clearTimeout(forget)
    begun = ''
    const command = meant(open, sequence) ?? meant(open, chord)
    if (command) {
      event.preventDefault()
      command.run()
    } else if (open.some(({ keys }) => keys?.startsWith(`${chord} `))) {
      begun = chord
      forget = setTimeout(() => {
        begun = ''
      }, 1200)
    }
  }
  document.addEventListener('keydown', pressed)
  return () => document.removeEventListener('keydown', pressed)
}
