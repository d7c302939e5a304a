import './styles.css'
import './ui/theme.ts'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './data/api.ts'
import { confirmIdentityWith } from './data/reauth.ts'
import { router } from './routes.tsx'
import { PickerHost } from './ui/picker.tsx'
import { listenForKeys } from './ui/shortcuts.ts'
import { Toasts } from './ui/toast.tsx'

listenForKeys()
confirmIdentityWith(async () => (await import('./login/confirm-identity.tsx')).confirmIdentity)

const container = document.getElementById('app')
if (!container) throw new Error('#app is missing in index.html')

createRoot(container).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <PickerHost>
        <RouterProvider router={router} />
      </PickerHost>
      <Toasts onOpen={(href) => void router.navigate({ href })} />
    </QueryClientProvider>
  </StrictMode>,
)
