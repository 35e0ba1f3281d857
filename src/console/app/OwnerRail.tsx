import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { balanceQuery, projectsQuery } from "../data/Queries.ts"
import { briefMoney, exactMoney, money } from "../format/Money.ts"
import { Money } from "../parts/Figures.tsx"
import { Icon } from "../parts/Icons.tsx"
import { Skeleton } from "../parts/States.tsx"
import { railGroups } from "./Pages.ts"
import { Rail } from "./Rail.tsx"

/** The available balance, in fewer digits on the narrow rail. */
const Available = ({ usd }: { readonly usd: number }) => (
  <>
    <span className="in-full">
      <Money usd={usd} />
    </span>
    <span className="in-brief number" title={exactMoney(usd)}>
      {briefMoney(usd)}
    </span>
  </>
)

const BalanceCard = () => {
  const { data, isError } = useQuery(balanceQuery)
  const low = data?.low_balance === true
  return (
    <section className={low ? "balance low" : "balance"} aria-label="Balance">
      <span className="label small muted">{low ? "Low balance" : "Available"}</span>
      <span className="figure">
        {data !== undefined ? (
          <Available usd={data.available_usd} />
        ) : isError ? (
          "—"
        ) : (
          <Skeleton height={22} width={80} />
        )}
      </span>
      <span className="held small muted" title="Held: reserved for running requests. It returns when they finish.">
        {data !== undefined ? `${money(data.held_usd)} held` : isError ? "not available" : "\u00a0"}
      </span>
      <Link className="button" to="/billing">
        Top up
      </Link>
    </section>
  )
}

/** Goes to the keys of one project or of all projects. */
const ProjectSelect = () => {
  const { data: projects = [] } = useQuery(projectsQuery)
  const navigate = useNavigate()
  const { project = "" } = useSearch({ strict: false })
  const active = projects.filter(({ status }) => status === "active")
  if (active.length === 0) return null
  return (
    <div className="switcher">
      <select
        className="select"
        aria-label="Show the keys of a project"
        value={project}
        onChange={({ target }) =>
          void navigate({ to: "/keys", search: target.value === "" ? {} : { project: target.value } })
        }
      >
        <option value="">All projects</option>
        {active.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

interface OwnerRailProps {
  readonly email: string
  readonly open: boolean
  readonly onSearch: () => void
  readonly onSignOut: () => void
}

/** The rail of owners: the balance, the pages, the projects, search and sign-out. */
export const OwnerRail = ({ email, onSearch, onSignOut, open }: OwnerRailProps) => (
  <Rail
    label="Console"
    open={open}
    groups={railGroups}
    before={<BalanceCard />}
    after={<ProjectSelect />}
    buttons={
      <button type="button" onClick={onSearch} title="Search (Ctrl K)">
        <Icon name="search" />
        <span className="words">
          Search <span className="kbd">⌘K</span>
        </span>
      </button>
    }
    docs="/docs"
    signOut={{ name: `Sign out ${email}`, title: `Sign out ${email}`, run: onSignOut }}
  />
)
