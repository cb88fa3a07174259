/**
 * A plan in Markdown. Nothing in it is required, and most lists that people and agents write are plans already.
 * `docs/guide/plan.md` tells people of it.
 *
 * - **Headings are phases**, unless only text stands below them. The first heading is the title when no tasks stand
 *   directly below it. A heading over deeper ones, without tasks of its own, lends them its name: `Backend / Storage`.
 * - **Checkboxes are tasks**: `- [ ]` to do, `- [/]` or `- [~]` in progress, `- [x]` done, `- [-]` dropped. Indented
 *   checkboxes are subtasks. Other indented text is the description of the task above it.
 * - **Without any checkbox** in the file, the entries of its lists are the tasks, numbered or not.
 * - **At the end of a task's line**, in any order: `#key` (with a letter in it) or `(id: key)`; `@role`; and what has to
 *   be done before, `(after: …)` or `after: …`. The latter may also stand on an indented line of its own.
 * - **A dependency** names a key, a whole title, the number that a title begins with (`1.2`, `T004`), or its
 *   number in a numbered list; several are separated by commas. `depends on:` means the same as `after:`.
 * - **`**Milestone:** name — criterion #key`** gathers the tasks below it up to the next milestone or heading; at the end
 *   of a phase, the tasks above it. As a checkbox it can be reached: `- [x] **Milestone:** …`.
 * - **Left out without a word**: empty lines, rules, and HTML comments. Every other line that is not understood is
 *   reported with its number.
 */
export const markdownExample = `# Shop

## Design #p1

**Milestone:** Design agreed — everyone has read it #agreed

- [x] Draw the screens @project-designer
- [ ] Describe the API #api @software-architect
      OpenAPI, with examples.
      after: Draw the screens

## Build

- [ ] Basket (after: api)
  - [ ] Prices
  - [ ] Discounts (after: Prices)
- [ ] Checkout after: Basket, api @developer

**Milestone:** First order — an order goes through on staging
`
