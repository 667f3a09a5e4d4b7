/** An esbuild plugin: leaves the messages of a schema library in other languages out, which answers never use. */
export const oneLocale = {
  name: 'one-locale',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
      loader: 'js',
    }))
  },
}
