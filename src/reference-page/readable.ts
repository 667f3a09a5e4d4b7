/** Changes small parts of Swagger UI for keyboards, screen readers and addresses of our own. */
import type { Plugin } from './swagger-ui.ts'

export const readable: Plugin = {
  wrapComponents: {
    // The row of an operation is already a button, and a button cannot contain a link.
    DeepLink:
      (_, { React }) =>
      ({ text }: { text: unknown }) =>
        React.createElement('span', null, text),
    TextArea:
      (Original, { React }) =>
      (props: object) =>
        React.createElement(Original, { 'aria-label': 'Request body', ...props }),
  },
  statePlugins: {
    layout: {
      wrapActions: {
        // All other addresses are anchors of the description.
        parseDeepLinkHash: (original) => (hash: string) => (hash.startsWith('#/') ? original(hash) : undefined),
      },
    },
  },
}
