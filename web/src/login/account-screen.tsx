import type { ReactNode } from 'react'
import { useMe } from '../data/me.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Choices } from '../ui/field.tsx'
import { Page } from '../ui/layout.tsx'
import { chooseTheme, type Theme, useTheme } from '../ui/theme.ts'
import { Profile } from './profile.tsx'
import { DeleteAccountSection } from './sections/delete-account.tsx'
import { DevicesSection } from './sections/devices.tsx'
import { EmailSection } from './sections/email.tsx'
import { IdentitiesSection } from './sections/identities.tsx'
import { PasskeysSection } from './sections/passkeys.tsx'
import { PasswordSection } from './sections/password.tsx'
import { ProgramsSection } from './sections/programs.tsx'

/** Address, sign-in methods, then what is signed in: one file for each section. */
export function AccountScreen({ children }: { children?: ReactNode }) {
  const { user } = useMe()
  const theme = useTheme()
  return (
    <Page title="Account" width="reading">
      <div className="flex items-center gap-4">
        <Avatar name={user.display_name} size={48} />
        <div className="min-w-0">
          <p className="truncate text-lg font-semibold">
            <bdi>{user.display_name}</bdi>
          </p>
          <p className="truncate text-ink-2">{user.email}</p>
        </div>
      </div>
      <Profile />
      <Choices<Theme>
        label="Theme"
        name="theme"
        value={theme}
        onChange={chooseTheme}
        choices={[
          { value: 'system', label: 'System' },
          { value: 'light', label: 'Light' },
          { value: 'dark', label: 'Dark' },
        ]}
      />
      <EmailSection />
      <PasswordSection />
      <PasskeysSection />
      <IdentitiesSection />
      <DevicesSection />
      <ProgramsSection />
      {children}
      <DeleteAccountSection />
    </Page>
  )
}
