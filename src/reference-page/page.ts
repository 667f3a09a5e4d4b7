/** Shows this service's OpenAPI document in Swagger UI, with the code samples of each operation. */

import { codeSamples } from './code-samples.ts'
import { anyWords } from './filter.ts'
import { readable } from './readable.ts'
import type { SwaggerUi } from './swagger-ui.ts'

declare const SwaggerUIBundle: SwaggerUi

const dark = matchMedia('(prefers-color-scheme: dark)')
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
followColours()
dark.addEventListener('change', followColours)

const ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  plugins: [codeSamples, anyWords, readable],
})

// Swagger UI reads the address once, and only addresses of operations such as `#/Pools/getPools`.
addEventListener('hashchange', () => ui.getSystem().layoutActions.parseDeepLinkHash(location.hash))
// An anchor of the description, such as `#error-not_found`, exists once the document has been read.
const drawn = new MutationObserver(() => {
  if (document.getElementById(location.hash.slice(1)) === null) return
  drawn.disconnect()
  location.replace(location.hash)
})
drawn.observe(document.body, { childList: true, subtree: true })
