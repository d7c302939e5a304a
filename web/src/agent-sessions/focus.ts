/** Whether something new may have the focus: nobody types, no menu is open, and there is a keyboard to type with. */
export const mayTakeFocus = () =>
  !document.querySelector('dialog[open]') &&
  !matchMedia('(pointer: coarse)').matches &&
  !(
    document.activeElement instanceof HTMLElement &&
    (document.activeElement.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName))
  )
