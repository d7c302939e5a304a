import { Page } from '../ui/layout.tsx'

export const SignInScreen = () => <Page title="Sign in">{null}</Page>
