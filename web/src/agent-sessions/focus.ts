const isTypedInto = (element: Element | null): element is HTMLElement =>
  element instanceof HTMLElement &&
  (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName)) &&
  !(element instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(element.type))

/** Whether `next` may take the focus: nobody types, no menu is open, and there is a keyboard to type with. */
export function mayTakeFocus(next: Element | null): boolean {
  if (!next || document.querySelector('dialog[open]') || matchMedia('(pointer: coarse)').matches) return false
  const now = document.activeElement
  if (!isTypedInto(now)) return true
  // Whoever waits in the empty box of the same session waits for just this.
  const here = next.closest('[data-session]')
  return now instanceof HTMLTextAreaElement && now.value === '' && here?.contains(now) === true
}
