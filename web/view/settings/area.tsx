// The settings of a host, one section at a time: #settings=models and so on.

import { lazy, Suspense } from "react";
import type { Me } from "../../run/admin.ts";
import { Frame } from "../area/frame.tsx";
import { useLoaded } from "../area/parts.tsx";
import { areaLink } from "../areas.tsx";
import { KeysSection, TenantsSection, UsersSection } from "./access.tsx";
import { AuditSection } from "./audit-log.tsx";
import { HealthSection } from "./health.tsx";
import { ModelsSection } from "./models.tsx";
import { useAdmin, useSettingsText, Waiting } from "./parts.tsx";
import { PluginsSection } from "./plugins.tsx";
import { SchedulesSection, SecretsSection, ServersSection } from "./services.tsx";
import { SignInSection } from "./sign-in.tsx";
import { TracesSection } from "./traces.tsx";
import { UsageSection } from "./usage.tsx";

interface Section {
  /** Scope that the person needs to see it. */
  scope: string;
  view(me: Me): React.ReactNode;
}

const Projects = lazy(() => import("../sharing/projects.tsx"));

const sections = {
  models: { scope: "admin", view: () => <ModelsSection /> },
  secrets: { scope: "edit", view: () => <SecretsSection /> },
  plugins: {
    scope: "read",
    view: ({ scopes = [] }) => <PluginsSection mayGrant={scopes.includes("admin")} mayEdit={scopes.includes("edit")} />,
  },
  mcp: { scope: "edit", view: () => <ServersSection /> },
  projects: {
    scope: "edit",
    view: ({ role }) => <Suspense><Projects mayCreate={role === "owner" || role === "admin"} /></Suspense>,
  },
  schedules: { scope: "edit", view: () => <SchedulesSection /> },
  keys: { scope: "admin", view: (me) => <KeysSection me={me} /> },
  users: { scope: "admin", view: (me) => <UsersSection me={me} /> },
  sign_in: { scope: "admin", view: (me) => <SignInSection me={me} /> },
  audit: { scope: "admin", view: () => <AuditSection /> },
  traces: { scope: "admin", view: () => <TracesSection /> },
  usage: { scope: "admin", view: () => <UsageSection /> },
  tenants: { scope: "host", view: (me) => <TenantsSection me={me} /> },
  health: { scope: "host", view: () => <HealthSection /> },
} satisfies Record<string, Section>;

type Name = keyof typeof sections;

/** SettingsArea shows a section and the way to the others. */
export default function SettingsArea({ path: [wanted] }: { path: string[] }): React.ReactNode {
  const s = useSettingsText();
  const name: Name = wanted !== undefined && Object.hasOwn(sections, wanted) ? (wanted as Name) : "models";
  return (
    <Frame crumbs={[{ label: s("sections") }, { label: s(name) }]}>
      <Sections name={name} />
    </Frame>
  );
}

function Sections({ name }: { name: Name }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const loaded = useLoaded("me", () => admin.get<Me>("/me"));
  if (!loaded.value) return <Waiting loaded={loaded} />;
  const me = loaded.value;
  const may = (section: Name): boolean => me.scopes?.includes(sections[section].scope) === true;
  return (
    <div className="settings-area">
      <nav aria-label={s("sections")}>
        {(Object.keys(sections) as Name[]).filter((each) => may(each) || each === name).map((each) => (
          <a key={each} href={areaLink("settings", each)} aria-current={each === name ? "page" : undefined}>
            {s(each)}
          </a>
        ))}
      </nav>
      <div className="settings-view" key={name}>
        {may(name) ? sections[name].view(me) : <p className="quiet">{s("not_allowed")}</p>}
      </div>
    </div>
  );
}
