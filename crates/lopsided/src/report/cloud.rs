//! Points that answer: who is it, where is it in the other panels, which class, who has this name.

use super::svg::{self, points};
use super::{Page, embedded, escape};
use serde_json::{Value, json};
use std::fmt::Write;

/// One view of the points of a [`Cloud`].
#[derive(Clone, Debug)]
pub struct Panel {
    /// What is seen.
    pub title: String,
    /// Names of the two directions; none for a map, whose places have no units.
    pub axes: Option<(String, String)>,
    /// Place of each point; those that are not finite are not shown.
    pub points: Vec<(f64, f64)>,
}

/// The same points in one or more panels. A reader finds them by name or by pointing, sees each in all panels at once, and can
/// hide classes; without the page's script it is a figure as any other.
///
/// ```
/// use lopsided::report::{Cloud, Page, Panel};
///
/// let points = vec![(0.0, 0.0), (1.0, 1.0)];
/// let map = Panel { title: "Map".into(), axes: None, points };
/// let names = vec!["</script>".to_string(), "b".into()];
/// let cloud = Cloud { names, panels: vec![map], ..Cloud::default() };
/// let page = Page::new("Two nodes", "").cloud(&cloud, "A dot is a node.").html();
/// assert!(page.contains(r#""names":["\u003c/script\u003e","b"]"#));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cloud {
    /// What each point is called.
    pub names: Vec<String>,
    /// Class of each point; none without classes.
    pub codes: Option<Vec<u32>>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Points whose names stand beside them in a map, the most prominent first.
    pub prominent: Vec<usize>,
    /// Panels that are seen at once.
    pub panels: Vec<Panel>,
    /// Panels one click away, and what the click says.
    pub folded: (String, Vec<Panel>),
}

impl Page {
    /// A cloud of points over one legend and one caption.
    pub fn cloud(mut self, cloud: &Cloud, caption: &str) -> Self {
        let number = self.clouds;
        self.clouds += 1;
        let drawn: Vec<points::Drawn> = cloud.panels.iter().chain(&cloud.folded.1).map(|p| cloud.drawn(p)).collect();
        let (open, folded) = drawn.split_at(cloud.panels.len());
        let legend = if cloud.codes.is_some() { svg::legend(&cloud.classes) } else { String::new() };
        let mut html = format!("<figure class=\"cloud\" data-cloud=\"{number}\">{}{legend}", framed(open));
        if !folded.is_empty() {
            let summary = escape(&cloud.folded.0);
            let _ = write!(html, "<details><summary>{summary}</summary>{}</details>", framed(folded));
        }
        let data = embedded(&cloud.data(&drawn));
        let _ = writeln!(
            html,
            "<figcaption>{}</figcaption><script type=\"application/json\" id=\"cloud-{number}\">{data}</script></figure>",
            escape(caption)
        );
        self.push(&html)
    }
}

impl Cloud {
    fn drawn(&self, panel: &Panel) -> points::Drawn {
        let codes = self.codes.as_deref();
        let Some((across, up)) = &panel.axes else {
            let name = |&i: &usize| Some((i, shortened(self.names.get(i)?)));
            let names: Vec<(usize, String)> = self.prominent.iter().filter_map(name).collect();
            return points::map(&panel.points, codes, &panel.title, &names);
        };
        points::components(&panel.points, codes, &panel.title, (across, up))
    }

    /// What the script reads: names, classes and, for each panel, tenths of its units, across and down in turn.
    fn data(&self, drawn: &[points::Drawn]) -> Value {
        let tenths = |v: f64| (10.0 * v).round() as i64;
        let places = |drawn: &points::Drawn| -> Vec<i64> {
            let place = |p: &Option<(f64, f64)>| p.map_or([-1, -1], |(x, y)| [tenths(x), tenths(y)]);
            drawn.places.iter().flat_map(place).collect()
        };
        let places: Vec<Vec<i64>> = drawn.iter().map(places).collect();
        json!({"names": self.names, "codes": self.codes, "classes": self.classes, "places": places})
    }
}

fn framed(drawn: &[points::Drawn]) -> String {
    let wide = if drawn.len() == 1 { " one" } else { "" };
    let panels: Vec<&str> = drawn.iter().map(|d| d.svg.as_str()).collect();
    format!("<div class=\"panels{wide}\"><div>{}</div></div>", panels.join("</div>\n<div>"))
}

/// A name as a label in a picture.
fn shortened(name: &str) -> String {
    const MOST: usize = 24;
    if name.chars().count() <= MOST { name.into() } else { name.chars().take(MOST - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that would be markup, script, the end of the data or the end of a line, if anything let them.
    const HOSTILE: [&str; 5] = [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "\u{2028}\"'`${x}",
        "]]><!--",
        "a&amp;b\0",
    ];

    fn hostile() -> Cloud {
        let names: Vec<String> = HOSTILE.map(String::from).to_vec();
        let points: Vec<(f64, f64)> = (0..5).map(|i| (f64::from(i), f64::from(i * i))).collect();
        let axes = Some((HOSTILE[0].to_string(), HOSTILE[1].to_string()));
        Cloud {
            codes: Some(vec![0, 1, 2, 3, 4]),
            classes: names.clone(),
            prominent: vec![0, 1, 2, 3, 4],
            panels: vec![Panel { title: HOSTILE[1].into(), axes: None, points: points.clone() }],
            folded: (HOSTILE[0].into(), vec![Panel { title: HOSTILE[3].into(), axes, points }]),
            names,
        }
    }

    #[test]
    fn nothing_of_a_name_becomes_markup_or_script() {
        let page = Page::new(HOSTILE[0], HOSTILE[1]).cloud(&hostile(), HOSTILE[0]).html();
        for markup in ["<img", "<!--", "alert(1)<"] {
            assert!(!page.contains(markup), "{markup}");
        }
        // The end of a line in a script; in text it is nothing.
        let scripts = page.split("<script").skip(1).filter_map(|rest| rest.split("</script>").next());
        assert!(scripts.into_iter().all(|script| !script.contains('\u{2028}')));
        // That of the data and that of the page.
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn the_data_say_where_each_point_is_and_read_back() {
        let page = Page::new("t", "").cloud(&hostile(), "c").html();
        let data = page.split("id=\"cloud-0\">").nth(1).unwrap().split("</script>").next().unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["names"][0], HOSTILE[0]);
        assert_eq!(data["names"][2], HOSTILE[2]);
        assert_eq!(data["places"].as_array().unwrap().len(), 2);
        assert_eq!(data["places"][1].as_array().unwrap().len(), 10);
    }

    #[test]
    fn points_without_a_place_are_nowhere() {
        let panel = Panel { title: "t".into(), axes: None, points: vec![(f64::NAN, 0.0), (1.0, 1.0)] };
        let cloud = Cloud { names: vec!["a".into(), "b".into()], panels: vec![panel], ..Cloud::default() };
        assert!(Page::new("t", "").cloud(&cloud, "").html().contains("\"places\":[[-1,-1,"));
    }
}
