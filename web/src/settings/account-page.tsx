import { AccountScreen } from '../login/account-screen.tsx'
import { PersonalTokensSection } from '../personal-tokens/tokens-section.tsx'

/** The account, with sections of features that depend on a workspace. */
export const AccountPage = () => (
  <AccountScreen>
    <PersonalTokensSection />
  </AccountScreen>
)
