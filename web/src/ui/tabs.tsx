import { Link } from '@tanstack/react-router'

/** Places beside each other, each with an address. */
export const Tabs = ({ label, tabs }: { label: string; tabs: { to: string; title: string; exact?: boolean }[] }) => (
  <nav aria-label={label} className="flex gap-1 overflow-x-auto px-3">
    {tabs.map(({ to, title, exact = true }) => (
      <Link
        key={to}
        to={to}
        activeOptions={{ exact }}
        className="border-b-2 border-transparent px-2 pt-1 pb-2 whitespace-nowrap text-ink-2 hover:text-ink data-[status=active]:border-accent data-[status=active]:font-medium data-[status=active]:text-ink"
      >
        {title}
      </Link>
    ))}
  </nav>
)
