/** The colour of a label. */
export const LabelDot = ({ color }: { color: string | null | undefined }) => (
  <span
    aria-hidden
    className="inline-block size-2 shrink-0 rounded-full bg-ink-3"
    style={color ? { background: color } : undefined}
  />
)
