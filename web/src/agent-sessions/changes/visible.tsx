import { visibleParts } from './visible-text.ts'

/** Text of a patch or a path, with the names of characters that cannot be seen. Never markup, never a link. */
export const Visible = ({ text }: { text: string }) =>
  visibleParts(text).map((part, index) =>
    part.isName ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other key
      <span key={index} className="hidden-character" title="A character that cannot be seen">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  )
