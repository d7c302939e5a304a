/** Says, next to a disabled button, what has to be chosen or filled in first. */
export const Missing = ({ children }: { children: string | null | undefined }) =>
  children ? (
    <p role="status" className="mr-auto self-center text-ink-2 max-sm:w-full">
      {children}
    </p>
  ) : null
